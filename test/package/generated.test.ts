/** Files that scripts write. */
import { readdirSync, readFileSync } from 'node:fs';
import { OPTIONS } from '@isthmus/sdk/internal/config/options/option-table.js';
import { describe, expect, it } from 'vitest';
import { drawDiagram } from '../../scripts/diagrams/draw.js';
import { renderPage, renderSchema } from '../../scripts/generate/render.js';

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

const HINT = 'is stale: run npm run generate';

it('the schema of configuration files has the options of the table', () => {
  const path = 'packages/cli/config.schema.json';
  expect(read(path), `${path} ${HINT}`).toBe(renderSchema(OPTIONS));
});

it('docs/config.md has the options of the table', () => {
  const page = read('docs/config.md');
  expect(page, `docs/config.md ${HINT}`).toBe(renderPage(page, OPTIONS));
});

const DIAGRAMS = ['attach', 'era-matrix', 'gateway', 'lens'];

it('docs/images has the diagrams of docs/diagrams', () => {
  const named = (folder: string) => readdirSync(new URL(`../../docs/${folder}`, import.meta.url)).sort();
  expect(named('diagrams')).toEqual(DIAGRAMS.map((name) => `${name}.txt`));
  expect(named('images').filter((name) => name.endsWith('.svg'))).toEqual(
    DIAGRAMS.map((name) => `${name}.svg`),
  );
});

it.each(DIAGRAMS)('docs/images/%s.svg is what its text describes', (name) => {
  const image = `docs/images/${name}.svg`;
  expect(read(image), `${image} is stale: run npm run diagrams`).toBe(
    drawDiagram(read(`docs/diagrams/${name}.txt`)),
  );
});

describe('a diagram', () => {
  const head = 'kind: flow\ntitle: Two boxes\ndesc: One & two\n\n';
  const body = 'column\n  box a: A\ncolumn\n  box b: B\narrow a -> b: to';

  it('has a title, a description, and the colours of both schemes', () => {
    const svg = drawDiagram(`${head}${body}`);
    expect(svg).toContain('<title>Two boxes</title>');
    expect(svg).toContain('<desc>One &amp; two</desc>');
    expect(svg).toContain('@media (prefers-color-scheme: dark)');
  });

  it.each([
    ['kind: pie\ntitle: T\ndesc: D', 'There is no kind of diagram called pie'],
    ['kind: flow\ntitle: T', 'A diagram needs a line "desc: …"'],
    [`${head}${body}\nbox`, 'The line "box" of a diagram is not understood'],
    [`${head}${body}\narrow a -> c`, 'An arrow names the box "c", which the diagram does not have'],
  ])('is refused: %j', (source, message) => {
    expect(() => drawDiagram(source)).toThrow(message);
  });
});
