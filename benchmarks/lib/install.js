/** The rivals' packages: installed once, and again whenever package-lock.json changes. */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from './child.js';

const STAMP = '.isthmus-bench-lock';

/**
 * Makes `directory/node_modules` match `directory/package-lock.json`; silent when it already does.
 * @param {string} directory
 */
export async function ensureInstalled(directory) {
  const lock = createHash('sha256')
    .update(readFileSync(join(directory, 'package-lock.json')))
    .digest('hex');
  const stamp = join(directory, 'node_modules', STAMP);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;

  process.stderr.write('bench: installing the rivals into benchmarks/node_modules (npm ci) …\n');
  await runToEnd('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], directory);
  writeFileSync(stamp, lock);
}
