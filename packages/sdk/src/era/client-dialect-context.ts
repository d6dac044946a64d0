import type { Clock } from '../async/clock.js';
import { events } from '../events.js';
import type { Change, Era, OutgoingCall, ServerFacts } from '../exchange/call.js';
import type { Connection } from '../exchange/connection.js';
import type {
  DecodedError,
  DecodedNotification,
  DecodedRequest,
  DecodedResult,
  RequestId,
} from '../wire/json-rpc.js';
import type { LogEntry } from '../wire/model.js';
import type { Answers } from './answers.js';
import type { QuestionPolicy, Tenant, TenantCaller } from './tenant.js';

/** What a client dialect works with. */
export interface ClientDialectContext {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Answers to questions that belong to no call. */
  readonly houseAnswers: Answers;
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
