// Runs steps under headings and adds up what they counted.
import { SetupError } from './setup/main.js';

/** Runs one step after the other, prints what failed and the summary, and sets the exit code. */
export async function runSteps(steps) {
  const done = [];
  for (const { title, step, needs = [] } of steps) {
    const broken = needs.find((need) => done.some((other) => other.title === need && other.failed > 0));
    done.push(broken ? skipped(title, broken) : await runStep(title, step));
  }
  printFailures(done);
  printSummary(done);
  if (sum(done, 'failed') > 0) process.exitCode = 1;
}

async function runStep(title, step) {
  console.log(`\n── ${title} ──`);
  const startedAt = performance.now();
  const outcome = await step().catch((error) => {
    const why = error instanceof SetupError ? error.message : (error?.stack ?? String(error));
    console.log(why);
    return { passed: 0, failed: 1, failures: [{ name: title, error: why }] };
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const line = describe(outcome);
  console.log(`${title}: ${line} (${seconds.toFixed(1)} s)`);
  return { title, ...outcome, line, seconds };
}

function skipped(title, need) {
  return { title, passed: 0, failed: 1, line: `not run, since the ${need} failed`, seconds: 0 };
}

function describe({ passed, failed, note }) {
  const counts = `${passed} passed, ${failed} failed`;
  return note ? `${counts}; ${note}` : counts;
}

/** Repeats the failures at the end, so that the last lines of a long log show them. */
function printFailures(done) {
  const failures = done.flatMap(({ failures = [] }) => failures);
  if (failures.length === 0) return;
  console.log('\n── what failed ──');
  for (const { name, error } of failures.slice(0, MAX_SHOWN)) console.log(`✗ ${name}\n${indent(error)}`);
  if (failures.length > MAX_SHOWN) console.log(`… and ${failures.length - MAX_SHOWN} more`);
}

const MAX_SHOWN = 50;

/** The last line is `N passed, M failed`, for programs that read it. */
function printSummary(done) {
  const width = Math.max(...done.map(({ title }) => title.length));
  console.log('\n── summary ──');
  for (const { title, line, seconds } of done) {
    console.log(`${title.padEnd(width)}  ${`${seconds.toFixed(1)} s`.padStart(8)}  ${line}`);
  }
  for (const remark of done.flatMap(({ remarks = [] }) => remarks)) {
    const [first, ...rest] = remark.split('\n');
    console.log([first, ...rest.map(indent)].join('\n'));
  }
  console.log(`\n${sum(done, 'passed')} passed, ${sum(done, 'failed')} failed`);
}

function indent(text) {
  return text.trimEnd().replace(/^/gm, '    ');
}

function sum(done, key) {
  return done.reduce((total, outcome) => total + outcome[key], 0);
}
