// npm run generate: writes what comes from the table of server options, and the public address into the manifests. A test
// fails while one of the files is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { renderPage, renderSchema } from './generate/render.js';
import { PUBLIC_ADDRESS, withAddress } from './release/address.js';
import { inRoot } from './setup/paths.js';
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';

const SCHEMA = new URL('../packages/cli/config.schema.json', import.meta.url);
const PAGE = new URL('../docs/config.md', import.meta.url);

await runMain(async () => {
  await ensureInstalled();
  await ensureBuilt();
  const { OPTIONS } = await import('@isthmus/sdk/internal/config/options/option-table.js');
  writeFileSync(SCHEMA, renderSchema(OPTIONS));
  writeFileSync(PAGE, renderPage(readFileSync(PAGE, 'utf8'), OPTIONS));
  for (const folder of ['sdk', 'gateway', 'check', 'console', 'cli'].map((name) => `packages/${name}`)) {
    const manifest = inRoot(folder, 'package.json');
    writeFileSync(manifest, withAddress(readFileSync(manifest, 'utf8'), PUBLIC_ADDRESS, folder));
  }
});
