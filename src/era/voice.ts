import type { Caller, OutgoingCall } from '../exchange/call.js';
import type { Implementation, LogEntry } from '../wire/model.js';
import type { Answers } from './answers.js';

/**
 * One of those who speak over a connection. A plain client is the only voice on its own; the conversations of a
 * host share one. What belongs to a voice (calls, questions, subscriptions, logs) never reaches another.
 */
export interface Voice {
  readonly info: Implementation;
  readonly answers: Answers;
  /** Its logs that belong to no call. */
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  /** Told when the user is done at a page that somebody was sent to, by the id of the question (legacy, 2025-11-25). */
  readonly onElicited?: ((elicitationId: string) => void) | undefined;
}

/** Makes calls in one era, over one connection, for one voice. */
export interface Speaker extends Caller {
  /** Whether whoever makes this call is answering a question: then it must not wait for others. */
  isAsked(call: OutgoingCall): boolean;
  /** Ends its calls, questions and subscriptions; the connection goes on for the others. */
  leave(why: string): void;
}

/**
 * What to do about questions that a legacy server asks while several voices have calls in flight; the wire does
 * not say whose they are.
 *
 * - `adaptive`: calls run side by side until the server asks; whatever is known to ask, or may, runs alone until it
 *   has asked, so that its questions can be attributed. While the answer is waited for, others run.
 * - `queue`: every call that may lead to a question runs alone.
 * - `refuse`: nothing waits; a question that cannot be attributed is refused.
 */
export type QuestionPolicy = 'adaptive' | 'queue' | 'refuse';
