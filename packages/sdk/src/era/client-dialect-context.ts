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
  /** What to do about questions that several tenants may have caused; undefined if there is only one tenant. */
  readonly questions: QuestionPolicy | undefined;
  /** How many `input_required` rounds one call may take. */
  readonly maxRounds: number;
  /** Logs that belong to no tenant. */
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  /** Called for every change that the server reports, also without a subscription. */
  readonly onChange: (change: Change) => void;
}

/** Handles the messages of a server by the rules of its era. */
export interface ClientDialect {
  readonly era: Era;
  readonly revision: string;
  readonly server: ServerFacts;
  /** Adds a tenant to the connection. A `hidden` one makes calls, but gets no questions and no logs. */
  join(tenant: Tenant, hidden?: boolean): TenantCaller;
  /** `about` is our request on whose stream the message came, if each request has its own stream. */
  request(request: DecodedRequest, about?: RequestId): void;
  notification(notification: DecodedNotification, about?: RequestId): void;
  response(response: DecodedResult | DecodedError): void;
  /** No more messages will come. */
  ended(error: Error): void;
}

/** Whether a call uses progress: it has a callback, or progress may extend its timeout. */
export function mayExtend(call: OutgoingCall): boolean {
  return call.onProgress !== undefined || call.maxTimeoutMs > call.timeoutMs;
}

/** Calls a callback of the application. An error that it throws must not end the connection. */
export function tell<T>(name: string, callback: ((value: T) => void) | undefined, value: T): void {
  try {
    callback?.(value);
  } catch (error) {
    if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method: name, error });
  }
}

/** Publishes a diagnostic event for a message that matches nothing. */
export function report(side: ClientDialectContext, why: string, message: unknown): void {
  if (events.dropped.hasSubscribers)
    events.dropped.publish({ connection: side.connection.label, why, message });
}

/**
 * A logical client that shares a connection with others. A plain client is the only tenant of its connection; the
 * conversations of a host share one. The calls, questions, subscriptions and logs of a tenant never reach another.
 */
export interface Tenant {
  readonly info: Implementation;
  readonly answers: Answers;
  /** The authenticated principal, if there is one. Questions and logs never cross from one principal to another. */
  readonly principal?: string | undefined;
  /** Called for logs of the tenant that belong to no call. */
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  /** Called when a user has finished at the URL of an elicitation, with its id (2025-11-25). */
  readonly onElicited?: ((elicitationId: string) => void) | undefined;
}

/** Makes the calls of one tenant, in one era, over one connection. */
export interface TenantCaller extends Caller {
  /** Tells `suspender` while the server does not work on the call. */
  call(call: OutgoingCall, suspender?: CallSuspender): Promise<JsonObject>;
  /** Whether the owner of this call is being asked a question: then the call must not wait for other calls. */
  isAsked(call: OutgoingCall): boolean;
  /** Ends the calls, questions and subscriptions of the tenant. The connection goes on for the others. */
  leave(why: string): void;
}

/** Frees the slot of a call while the server does not work on it: the call waits for a user, or for its turn. */
export interface CallSuspender {
  /** `end` ends the call; given if the call waits for a user. */
  suspend(call: OutgoingCall, end?: (error: IsthmusError) => void): void;
  /** The server works on the call again. */
  resume(call: OutgoingCall): void;
}

/**
 * What to do about questions that a legacy server asks while several tenants have calls in flight. The protocol does not
 * say which call a question belongs to.
 *
 * - `adaptive`: calls run side by side. Calls that are known to ask wait for each other until each has asked, so that
 *   their questions can be attributed; other calls never wait. A question that cannot be attributed is refused.
 * - `queue`: every call that may lead to a question runs alone.
 * - `refuse`: nothing waits; a question that cannot be attributed is refused.
 */
export type QuestionPolicy = 'adaptive' | 'queue' | 'refuse';
