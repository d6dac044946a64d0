// The steps of `npm test` and `npm run check`. Each returns { passed, failed, note? }.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inRoot } from './setup/paths.js';
import { describeEnd, run } from './setup/run.js';
import { biome, tsc, vitest } from './setup/tools.js';
import { ensureBuilt } from './setup.js';

export async function build() {
  await ensureBuilt();
  return { passed: 1, failed: 0 };
}

export async function typeCheck() {
  return once(await run(process.execPath, [tsc, '--noEmit'], { output: 'inherit' }));
}

export async function lint() {
  return once(await run(process.execPath, [biome, 'check'], { output: 'inherit' }));
}

/** Counts tests, not runs. A run that fails without a failed test (a file that does not load) counts as one. */
export async function tests(args = []) {
  // Named for this run: another one may be under way in the same checkout.
  const report = inRoot(`.cache/vitest-${process.pid}.json`);
  await mkdir(dirname(report), { recursive: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const result = await run(process.execPath, [vitest, 'run', ...reporters, ...args], {
    output: 'inherit',
    limitMs: 8 * 60_000,
  });
  const counted = await readFile(report, 'utf8').then(JSON.parse, () => undefined);
  await rm(report, { force: true });
  const failed = counted?.numFailedTests ?? 0;
  return {
    passed: counted?.numPassedTests ?? 0,
    failed: result.ok ? failed : Math.max(failed, 1),
    note: result.ok || failed > 0 ? undefined : describeEnd(result),
  };
}

function once(result) {
  return result.ok ? { passed: 1, failed: 0 } : { passed: 0, failed: 1, note: describeEnd(result) };
}
