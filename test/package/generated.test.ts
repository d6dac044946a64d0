/** Files that scripts write. */
import { readdirSync, readFileSync } from 'node:fs';
import { OPTIONS } from '@isthmus/sdk/internal/config/options/option-table.js';
import { expect, it } from 'vitest';
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

it('docs/images has the diagrams of docs/diagrams', () => {
  const sources = readdirSync(new URL('../../docs/diagrams', import.meta.url));
  expect(sources).toContain('era-matrix.txt');
  for (const file of sources.filter((name) => name.endsWith('.txt'))) {
    const image = `docs/images/${file.replace('.txt', '.svg')}`;
    expect(read(image), `${image} is stale: run npm run diagrams`).toBe(
      drawDiagram(read(`docs/diagrams/${file}`)),
    );
  }
});
