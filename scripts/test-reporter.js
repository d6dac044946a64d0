// A reporter of vitest for `npm test`: writes what happened as lines of JSON, file by file, so that a run that is
// cut off has still reported what was done. `readReport` adds the lines up.
import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Names the file to write to. The tests do not get to see it. */
export const REPORT_VARIABLE = 'ISTHMUS_TEST_REPORT';

export default class TestReporter {
  #path = process.env[REPORT_VARIABLE];

  onInit() {
    delete process.env[REPORT_VARIABLE];
  }

  onTestModuleStart({ relativeModuleId }) {
    this.#write({ started: relativeModuleId });
  }

  onTestModuleEnd(module) {
    const tests = [...module.children.allTests()];
    const inState = (state) => tests.filter((test) => test.result().state === state);
    this.#write({
      ended: module.relativeModuleId,
      passed: inState('passed').length,
      failed: inState('failed').length,
      failures: [...inState('failed').map(describeTest), ...brokenSuites(module)],
      // One that fails its second attempt, too, is among the failures.
      flaky: inState('passed')
        .filter((test) => test.diagnostic()?.flaky)
        .map(describeTest),
    });
  }

  onTestRunEnd(_modules, unhandledErrors) {
    const failures = unhandledErrors.map((error) => ({
      name: 'an error outside of any test',
      error: headOf(error),
    }));
    if (failures.length > 0) this.#write({ failures });
  }

  #write(line) {
    if (this.#path !== undefined) appendFileSync(this.#path, `${JSON.stringify(line)}\n`);
  }
}

/** What was written so far: counts, what failed and why, what needed a second attempt, and what never ended. */
export async function readReport(path) {
  const text = await readFile(path, 'utf8').catch(() => '');
  const lines = text.split('\n').filter(Boolean).map(JSON.parse);
  const sum = (key) => lines.reduce((total, line) => total + (line[key] ?? 0), 0);
  const ended = new Set(lines.map((line) => line.ended));
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    failures: lines.flatMap((line) => line.failures ?? []),
    flaky: lines.flatMap((line) => line.flaky ?? []),
    unfinished: lines.flatMap(({ started }) => (started && !ended.has(started) ? [started] : [])),
  };
}

function describeTest(test) {
  return { name: nameOf(test), error: headOf(test.result().errors?.[0]) };
}

/** A file that does not load, or a hook that fails: its tests were not run, and have not failed either. */
function brokenSuites(module) {
  const suites = [module, ...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
  return suites.map((suite) => ({ name: nameOf(suite), error: headOf(suite.errors()[0]) }));
}

function nameOf(task) {
  if (task.type === 'module') return task.relativeModuleId;
  return `${task.module.relativeModuleId} > ${task.fullName}`;
}

/** The first lines of a message and of its diff: enough to know what it is about. */
function headOf(error) {
  const text = [error?.message ?? String(error), error?.diff ?? ''].join('\n').trim();
  const lines = stripVTControlCharacters(text).split('\n');
  const place = error?.stacks?.find(({ file }) => !file.includes('node_modules'));
  return [
    ...lines.slice(0, MAX_LINES),
    ...(lines.length > MAX_LINES ? ['…'] : []),
    ...(place ? [`at ${relative(process.cwd(), place.file)}:${place.line}`] : []),
  ].join('\n');
}

const MAX_LINES = 20;
