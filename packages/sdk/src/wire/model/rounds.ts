import type { ElicitParams, ElicitResult } from './elicitation.js';
import type { CreateMessageParams, CreateMessageResult } from './sampling.js';
import type { Meta, MetaObject, ResultMeta } from './vocabulary.js';

/** Roots (deprecated by 2026-07-28), and input rounds: how a modern server asks, since 2026-07-28. */

export type Root = {
  /** A `file:` URI. */
  uri: string;
  name?: string;
  _meta?: MetaObject;
};

export type ListRootsResult = { roots: Root[]; _meta?: MetaObject };

/** A question inside a result. In legacy the same question is a request of its own. */
export type InputRequest =
  | { method: 'elicitation/create'; params: ElicitParams }
  | { method: 'sampling/createMessage'; params: CreateMessageParams }
  | { method: 'roots/list'; params?: { _meta?: Meta } };

/** Questions by a key of the server's choice. */
export type InputRequests = { [key: string]: InputRequest };

/** The bare answer. There is no error among them: who will not answer does not retry. */
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;

/** Answers under the keys of their questions. */
export type InputResponses = { [key: string]: InputResponse };

/**
 * Instead of a result, from `tools/call`, `prompts/get` and `resources/read` only: ask, then be called
 * again. At least one of `inputRequests` and `requestState` is present.
 */
export type InputRequiredResult = {
  resultType: 'input_required';
  inputRequests?: InputRequests;
  /** Comes back byte for byte, through hands the server does not control. */
  requestState?: string;
  _meta?: ResultMeta;
};
