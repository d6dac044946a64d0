import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckOptions } from '../../../src/index.js';
import type { CommandMutant } from '../../support/suites/mutant.js';

/** Short limits, because some of these servers never end. One process is enough for the survey. */
const HASTE: CheckOptions = {
  eras: ['modern'],
  patience: { helloMs: 10_000, answerMs: 1500, quietMs: 100, checkMs: 20_000 },
};

const fault = (
  check: string,
  name: string,
  words: string,
  more: Partial<CommandMutant> = {},
): CommandMutant => ({
  check,
  fault: words,
  options: HASTE,
  program: ['small-server.js', name],
  ...more,
});

/** Processes that come and go as they should not. `folder` is where those with locks leave them. */
export const lifetimeMutants: readonly CommandMutant[] = [
  fault('lifetime/starts', 'late', 'takes seconds to start', {
    seen: /came after \d+ ms/,
    options: { ...HASTE, patience: { ...HASTE.patience, answerMs: 700 } },
  }),
  fault('lifetime/stays', 'ends-when-used', 'ends by itself', { seen: /exited/ }),
  fault('lifetime/two-at-once', 'single', 'holds a lock', {
    seen: /another instance is running/,
    program: ['small-server.js', 'single', lockFolder()],
  }),
  fault('lifetime/starts-after-kill', 'stale-lock', 'trusts the lock of the dead', {
    seen: /another instance is running/,
    program: ['small-server.js', 'stale-lock', lockFolder()],
  }),
  fault('lifetime/ends-with-input', 'ignores-end', 'ignores the end of input', {
    seen: /still running/,
  }),
  fault('lifetime/exit-code', 'exit-code', 'ends with code 3', { seen: /code 3/ }),
  fault('lifetime/stdout-is-pure', 'farewell', 'says goodbye on stdout', { seen: /Goodbye!/ }),
  fault('lifetime/leaves-nobody', 'orphans', 'leaves a process behind', {
    seen: /leaves 1 child processes running/,
  }),
  fault('lifetime/ends-unused', 'ignores-end-unused', 'waits for a first request for ever'),
  fault('lifetime/ends-with-subscription', 'waits-for-listeners', 'lives for its listeners'),
  fault('lifetime/ends-with-call', 'waits-for-calls', 'waits for its calls', { seen: /while sleep ran/ }),
  fault('lifetime/sigterm', 'ignores-sigterm', 'does not heed SIGTERM'),
  fault('lifetime/sigterm-leaves-nobody', 'orphans', 'leaves a process behind', {
    seen: /SIGTERM it leaves 1/,
  }),
  fault('lifetime/sigint', 'ignores-sigint', 'does not heed SIGINT'),
  fault('lifetime/host-dies', 'ignores-broken-pipe', 'does not end when its output is closed'),
];

function lockFolder(): string {
  return mkdtempSync(join(process.env['ISTHMUS_TEST_FOLDER']!, 'locks-'));
}
