/** Files that `npm run generate` writes. */
import { readFileSync } from 'node:fs';
import { OPTIONS } from '@isthmus/sdk/internal/config/options/option-table.js';
import { expect, it } from 'vitest';
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
