// npm run generate: writes what comes from the table of server options. A test fails while one of the files is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { renderPage, renderSchema } from './generate/render.js';
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';

const SCHEMA = new URL('../packages/cli/config.schema.json', import.meta.url);
const PAGE = new URL('../docs/config.md', import.meta.url);

await runMain(async () => {
  await ensureInstalled();
  await ensureBuilt();
  const { OPTIONS } = await import('@isthmus/sdk/internal/config/options/option-table.js');
  writeFileSync(SCHEMA, renderSchema(OPTIONS));
  writeFileSync(PAGE, renderPage(readFileSync(PAGE, 'utf8'), OPTIONS));
});
