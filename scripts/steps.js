// The steps of `npm test` and `npm run check`. Each returns { passed, failed, note?, failures?, remarks? }.
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inRoot } from './setup/paths.js';
import { describeEnd, run } from './setup/run.js';
import { biome, tsc, vitest } from './setup/tools.js';
import { ensureBuilt } from './setup.js';
import { REPORT_VARIABLE, readReport } from './test-reporter.js';

export async function build() {
  await ensureBuilt();
  return { passed: 1, failed: 0 };
}

/** The page of the console has the types of a browser, and so a project of its own. */
export async function typeCheck() {
  const main = await once('type check', [tsc, '--noEmit']);
  if (main.failed > 0) return main;
  return once('type check of the page', [tsc, '-p', inRoot('packages/console/web/tsconfig.json')]);
}

export function lint() {
  return once('lint', [biome, 'check']);
}

/**
 * Counts tests, not runs. A run that fails without a failed test (a file that does not load) counts as one. With
 * `retry` a test that fails has a second attempt, and the report says so.
 */
export async function tests(args = [], { retry = false, limitMs = 25 * 60_000 } = {}) {
  // Named for this run: another one may be under way in the same checkout.
  const path = inRoot(`.cache/vitest-${process.pid}.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  const options = ['--reporter=default', `--reporter=${inRoot('scripts/test-reporter.js')}`];
  if (retry) options.push('--retry=1');
  const result = await run(process.execPath, [vitest, 'run', ...options, ...args], {
    output: 'inherit',
    limitMs,
    env: { ...process.env, [REPORT_VARIABLE]: path },
  });
  const { passed, failed, failures, flaky, unfinished } = await readReport(path);
  await rm(path, { force: true });
  return {
    passed,
    failed: result.ok ? failed : Math.max(failed, 1),
    note: result.ok || failed > 0 ? undefined : describeEnd(result),
    failures: [...failures, ...unfinished.map((name) => ({ name, error: 'it did not come to its end' }))],
    remarks: flaky.map(({ name, error }) => `needed a second attempt: ${name}\n${error}`),
  };
}

/** Its output is short, and shown when there is something wrong. */
async function once(name, args) {
  const result = await run(process.execPath, args);
  if (result.ok) return { passed: 1, failed: 0 };
  console.log(result.output.trimEnd());
  const note = describeEnd(result);
  return { passed: 0, failed: 1, note, failures: [{ name, error: firstLines(result.output) }] };
}

function firstLines(text) {
  return text.trim().split('\n').slice(0, 20).join('\n');
}
