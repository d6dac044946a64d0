import { CACHE } from './cache.js';
import { CANCEL } from './cancel.js';
import { CAPABILITIES } from './capabilities.js';
import type { ClientCheck } from './check.js';
import { ERA_RULES } from './eras.js';
import { HANDSHAKE } from './handshake.js';
import { HEADERS } from './headers.js';
import { IDS } from './ids.js';
import { MESSAGES } from './messages.js';
import { META_CHECKS } from './meta.js';
import { NEGOTIATION } from './negotiation.js';
import { PARAM_HEADERS } from './param-headers.js';
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
  ...IDS,
  ...META_CHECKS,
  ...HANDSHAKE,
  ...QUESTIONS,
  ...CAPABILITIES,
  ...ROUNDS,
  ...RESULTS,
  ...CANCEL,
  ...CACHE,
  ...HEADERS,
  ...PARAM_HEADERS,
  ...SESSIONS,
  ...ROBUSTNESS,
  ...SHUTDOWN,
];
