// Writes docs/check-rules.md: `node scripts/check-rules.js`. With `--open` it lists what no check covers yet.
import { writeFileSync } from 'node:fs';
import { ensureBuilt } from './setup.js';

await ensureBuilt();
const { CHECKS } = await import('@isthmus/check/internal/suites/index.js');
const { CLIENT_CHECKS } = await import('@isthmus/check/internal/client/catalogue.js');
const { coverage, rulesPage } = await import('@isthmus/check/internal/rules/coverage.js');

const rows = coverage(CHECKS, CLIENT_CHECKS);
if (process.argv.includes('--open')) {
  for (const { rule, standing } of rows)
    if (standing === 'open') console.log(`${rule.id} ${rule.level} (${rule.source}): ${rule.rule}`);
} else {
  writeFileSync(new URL('../docs/check-rules.md', import.meta.url), `${rulesPage(rows)}\n`);
}
