// Runs steps under headings and adds up what they counted.
import { SetupError } from './setup/main.js';

/** Runs one step after the other, prints the summary, and sets the exit code. */
export async function runSteps(steps) {
  const done = [];
  for (const { title, step, needs = [] } of steps) {
    const broken = needs.find((need) => done.some((other) => other.title === need && other.failed > 0));
    done.push(broken ? skipped(title, broken) : await runStep(title, step));
  }
  printSummary(done);
  if (sum(done, 'failed') > 0) process.exitCode = 1;
}

async function runStep(title, step) {
  console.log(`\n── ${title} ──`);
  const startedAt = performance.now();
  const outcome = await step().catch((error) => {
    console.log(error instanceof SetupError ? error.message : error);
    return { passed: 0, failed: 1 };
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

/** The last line stands alone in the form `N passed, M failed`, for whoever reads it by machine. */
function printSummary(done) {
  const width = Math.max(...done.map(({ title }) => title.length));
  console.log('\n── summary ──');
  for (const { title, line, seconds } of done) {
    console.log(`${title.padEnd(width)}  ${`${seconds.toFixed(1)} s`.padStart(8)}  ${line}`);
  }
  console.log(`\n${sum(done, 'passed')} passed, ${sum(done, 'failed')} failed`);
}

function sum(done, key) {
  return done.reduce((total, outcome) => total + outcome[key], 0);
}
