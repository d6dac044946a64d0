/**
 * The MCP model as users of Isthmus meet it: one shape per thing, wide enough for every revision.
 * A member without a note exists since 2024-11-05; "since" names the revision that introduced it.
 * Dialects add and remove what one era needs and the other does not know (`resultType`, cache hints).
 *
 * Two habits hold throughout, and `test/package/model-types.test-d.ts` keeps them:
 * - Values pass freely to and from the official SDK's types, hence mutable arrays.
 * - Everything is a type alias: an interface is not assignable to `Record<string, unknown>`, which is
 *   what params and results are on the wire. It also spares results an index signature, so that a
 *   misspelt member in a handler's literal is an error.
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
export type * from './model/vocabulary.js';
