import type { IsthmusError } from '../errors.js';
import type { Caller, OutgoingCall } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { Implementation, LogEntry } from '../wire/model.js';
import type { Answers } from './answers.js';

/**
 * One of those who speak over a connection. A plain client is the only voice on its own; the conversations of a
 * host share one. What belongs to a voice (calls, questions, subscriptions, logs) never reaches another.
 */
export interface Tenant {
  readonly info: Implementation;
  readonly answers: Answers;
  /** Whose voice it is, where that is known and proven. Questions and logs never cross from one principal to another. */
  readonly principal?: string | undefined;
  /** Its logs that belong to no call. */
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  /** Told when the user is done at a page that somebody was sent to, by the id of the question (legacy, 2025-11-25). */
  readonly onElicited?: ((elicitationId: string) => void) | undefined;
}

/** Makes calls in one era, over one connection, for one voice. */
export interface TenantCaller extends Caller {
  /** `rests` is told while the server has nothing to do for the call. */
  call(call: OutgoingCall, rests?: Rests): Promise<JsonObject>;
  /** Whether whoever makes this call is answering a question: then it must not wait for others. */
  isAsked(call: OutgoingCall): boolean;
  /** Ends its calls, questions and subscriptions; the connection goes on for the others. */
  leave(why: string): void;
}

/** Told of calls that keep the server from nothing: they wait for a person, or for their turn. */
export interface Rests {
  /** `end` ends the call; it is given where the call waits for a person. */
  rest(call: OutgoingCall, end?: (error: IsthmusError) => void): void;
  /** The server goes on with it. */
  resume(call: OutgoingCall): void;
}

/**
 * What to do about questions that a legacy server asks while several voices have calls in flight; the wire does
 * not say whose they are.
 *
 * - `adaptive`: calls run side by side. Calls that are known to ask wait for each other until each has asked, so
 *   that their questions can be attributed; other calls never wait. What cannot be attributed is refused.
 * - `queue`: every call that may lead to a question runs alone.
 * - `refuse`: nothing waits; a question that cannot be attributed is refused.
 */
export type QuestionPolicy = 'adaptive' | 'queue' | 'refuse';
