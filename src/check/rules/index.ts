/** The rule book: what the specification demands, by id. Only the referee loads it. */
import { AUTHORIZATION } from './authorization.js';
import { CACHING } from './caching.js';
import { CANCELLATION } from './cancellation.js';
import { COMPLETION } from './completion.js';
import { DISCOVER } from './discover.js';
import { ELICITATION } from './elicitation.js';
import { ERRORS } from './errors.js';
import { HANDSHAKE } from './handshake.js';
import { ICONS } from './icons.js';
import { INPUT_ROUNDS } from './input-rounds.js';
import { JSON_SCHEMA } from './json-schema.js';
import { LEGACY_HTTP } from './legacy-http.js';
import { LIFETIME } from './lifetime.js';
import { LOGGING } from './logging.js';
import { MESSAGES } from './messages.js';
import { META } from './meta.js';
import { PAGINATION } from './pagination.js';
import { PROGRESS } from './progress.js';
import { PROMPTS } from './prompts.js';
import { RESOURCES } from './resources.js';
import { ROOTS } from './roots.js';
import type { Rule } from './rule.js';
import { SAMPLING } from './sampling.js';
import { SESSIONS } from './sessions.js';
import { STATE } from './state.js';
import { STDIO } from './stdio.js';
import { STREAMABLE_HTTP } from './streamable-http.js';
import { SUBSCRIPTIONS } from './subscriptions.js';
import { TASKS } from './tasks.js';
import { TOOLS } from './tools.js';
import { VERSIONING } from './versioning.js';

export type { Rule } from './rule.js';

/** In the order of the specification, more or less. */
export const RULES: ReadonlyMap<string, Rule> = new Map(
  [
    MESSAGES,
    META,
    STATE,
    JSON_SCHEMA,
    ICONS,
    ERRORS,
    VERSIONING,
    STDIO,
    LIFETIME,
    STREAMABLE_HTTP,
    LEGACY_HTTP,
    SESSIONS,
    HANDSHAKE,
    TASKS,
    INPUT_ROUNDS,
    SUBSCRIPTIONS,
    PROGRESS,
    CANCELLATION,
    DISCOVER,
    CACHING,
    PAGINATION,
    LOGGING,
    COMPLETION,
    TOOLS,
    RESOURCES,
    PROMPTS,
    ELICITATION,
    SAMPLING,
    ROOTS,
    AUTHORIZATION,
  ].flatMap((rules) => rules.map((rule) => [rule.id, rule] as const)),
);

/** Throws for an id that nobody knows: whoever cites a rule means one. */
export function ruleOf(id: string): Rule {
  const rule = RULES.get(id);
  if (rule === undefined) throw new Error(`There is no rule ${id}`);
  return rule;
}
