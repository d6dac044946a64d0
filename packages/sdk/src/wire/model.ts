/**
 * The MCP model in the public API: one shape per thing, wide enough for every revision. A member without a note exists
 * since 2024-11-05; "since" names the revision that introduced it. Dialects add and remove members that only one era
 * knows (`resultType`, cache hints).
 *
 * Two rules hold throughout; `test/package/model-types.test-d.ts` checks them:
 * - Values pass freely to and from the official SDK's types, hence mutable arrays.
 * - Every type is an alias: an interface is not assignable to `Record<string, unknown>`, the type of params and results
 *   on the wire. Results need no index signature then, so that a misspelt member in a handler's literal is an error.
 */

export type * from './model/capabilities.js';
export type * from './model/capabilities.js';
export type * from './model/elicitation.js';
export type * from './model/offers.js';
export type * from './model/offers.js';
export type * from './model/questions.js';
export type * from './model/questions.js';
export type * from './model/results.js';
export type * from './model/results.js';
export type * from './model/tasks.js';
export type * from './model/vocabulary.js';
