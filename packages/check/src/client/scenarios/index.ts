import { LOGINS } from '../login/scenarios/index.js';
import type { Scenario } from '../model.js';
import { TASK_SCENARIOS } from '../tasks/task-servers.js';
import { QUESTIONS, ROUNDS } from './asking.js';
import { CACHES } from './caches.js';
import { CANCELS, RESULTS } from './calls.js';
import { ERAS } from './eras.js';
import { HEADERS } from './headers.js';
import { NOISE } from './noise.js';
import { PROBES } from './probes.js';
import { ENDS, SESSIONS, STREAMS } from './streams.js';

/** All scripted servers, in the order of the documentation. */
export const SCENARIOS: readonly Scenario[] = [
  ...ERAS,
  ...PROBES,
  ...QUESTIONS,
  ...ROUNDS,
  ...RESULTS,
  ...CANCELS,
  ...CACHES,
  ...HEADERS,
  ...SESSIONS,
  ...NOISE,
  ...STREAMS,
  ...ENDS,
  ...TASK_SCENARIOS,
  ...LOGINS,
];

export function scenarioNamed(name: string): Scenario | undefined {
  return SCENARIOS.find((each) => each.name === name);
}
