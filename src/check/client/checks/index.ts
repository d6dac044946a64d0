import { CACHE } from './cache.js';
import { CANCEL } from './cancel.js';
import type { ClientCheck } from './check.js';
import { ERA_RULES } from './eras.js';
import { HANDSHAKE } from './handshake.js';
import { HEADERS } from './headers.js';
import { MESSAGES } from './messages.js';
import { NEGOTIATION } from './negotiation.js';
import { QUESTIONS } from './questions.js';
import { RESULTS } from './results.js';
import { ROBUSTNESS } from './robustness.js';
import { ROUNDS } from './rounds.js';
import { SESSIONS } from './sessions.js';
import { SHUTDOWN } from './shutdown.js';

/** Everything that is said about a client. */
export const CLIENT_CHECKS: readonly ClientCheck[] = [
  ...NEGOTIATION,
  ...ERA_RULES,
  ...MESSAGES,
  ...HANDSHAKE,
  ...QUESTIONS,
  ...ROUNDS,
  ...RESULTS,
  ...CANCEL,
  ...CACHE,
  ...HEADERS,
  ...SESSIONS,
  ...ROBUSTNESS,
  ...SHUTDOWN,
];
