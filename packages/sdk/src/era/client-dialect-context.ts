import type { Clock } from '../async/clock.js';
import type { IsthmusError } from '../errors.js';
import { events } from '../events.js';
import type { Caller, Change, Era, OutgoingCall, ServerFacts } from '../exchange/call.js';
import type { Connection } from '../exchange/connection.js';
import type {
  DecodedError,
  DecodedNotification,
  DecodedRequest,
  DecodedResult,
  JsonObject,
  RequestId,
} from '../wire/json-rpc.js';
import type { Implementation, LogEntry } from '../wire/model.js';
import type { Answers } from './answers.js';

/** What a client dialect works with. */
export interface ClientDialectContext {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Answers to questions that belong to no call. */
  readonly fallbackAnswers: Answers;
  /** What to do about questions that may be anybody's; undefined where there is only one voice. */
  readonly questions: QuestionPolicy | undefined;
  /** How many `input_required` rounds one call may take. */
  readonly maxRounds: number;
  /** Logs that belong to no voice. */
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  /** Every change that the server tells of, whoever listens. */
  readonly onChange: (change: Change) => void;
}

/** The messages of a server, handed to the dialect of its era. */
export interface ClientDialect {
  readonly era: Era;
  readonly revision: string;
  readonly server: ServerFacts;
  /** Lets one more speak over the connection. Whoever is `hidden` makes calls but is never asked or told anything. */
  join(voice: Tenant, hidden?: boolean): TenantCaller;
  /** `about` is the request of ours on whose stream it came, where each has its own. */
  request(request: DecodedRequest, about?: RequestId): void;
  notification(notification: DecodedNotification, about?: RequestId): void;
  response(response: DecodedResult | DecodedError): void;
  /** No more messages will come. */
  ended(error: Error): void;
}

/** Whether a call has a use for progress: somebody watches it, or it may extend the timeout. */
export function mayExtend(call: OutgoingCall): boolean {
  return call.onProgress !== undefined || call.maxTimeoutMs > call.timeoutMs;
}

/** Calls back into the caller's code, whose failure is its own and must not cost the connection. */
export function tell<T>(name: string, callback: ((value: T) => void) | undefined, value: T): void {
  try {
    callback?.(value);
  } catch (error) {
    if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method: name, error });
  }
}

/** A message that matches nothing is reported, never thrown. */
export function report(side: ClientDialectContext, why: string, message: unknown): void {
  if (events.dropped.hasSubscribers)
    events.dropped.publish({ connection: side.connection.label, why, message });
}

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
