import type { Clock } from '../async/clock.js';
import type { IsthmusError } from '../errors.js';
import { events } from '../events.js';
import type {
  CallerIdentity,
  Change,
  ForeignNotification,
  OpenListen,
  OutgoingCall,
} from '../exchange/call.js';
import type { ResultListener } from '../exchange/late-result.js';
import type {
  DecodedError,
  DecodedNotification,
  DecodedRequest,
  DecodedResult,
  InvalidMessage,
  RequestId,
} from '../wire/json-rpc.js';
import type { LogEntry, LoggingLevel, SubscriptionFilter } from '../wire/model.js';
import type { Answers } from './answers.js';
import type { Tenant } from './client/tenant.js';
import type { TenantCaller } from './client/tenant-caller.js';

export type { TenantCaller } from './client/tenant-caller.js';

/** What a connection to a server, and the dialect that speaks on it, are told by the client or the host. */
export interface ClientConnectionSettings {
  readonly clock: Clock;
  /** Answers to questions that belong to no call. */
  readonly fallbackAnswers: Answers;
  /** What to do about questions that several tenants may have caused; undefined if there is only one tenant. */
  readonly questions: QuestionPolicy | undefined;
  /** How many `input_required` rounds one call may take. */
  readonly maxRounds: number;
  /** Called for lines that are not messages. */
  readonly onNoise?: ((line: InvalidMessage) => void) | undefined;
  /** Called for logs that belong to no tenant. */
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  /** Called for each log line of a tenant, besides the tenant itself. */
  readonly onTenantLog?: ((tenant: Tenant, entry: LogEntry) => void) | undefined;
  /** Called for every change that the server reports, also without a subscription. */
  readonly onChange: (change: Change) => void;
  /** The number of the process, where a host keeps processes. Errors name it. */
  readonly generation?: number | undefined;
}

/** Speaks with a server by the rules of its era, for the tenants of a connection. */
export interface ClientDialect {
  /** A tenant that can be asked has joined the connection. */
  joined?(): void;
  /** Makes a call, and ends it in the limiter of the tenant. The listener is told its result. */
  call(caller: TenantCaller, call: OutgoingCall, listener: ResultListener): void;
  /** Whether the owner of this call is being asked a question. */
  isAsked(caller: TenantCaller, call: OutgoingCall): boolean;
  listen(
    caller: TenantCaller,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
    as?: CallerIdentity,
  ): Promise<OpenListen>;
  setLogLevel(caller: TenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void>;
  rootsChanged?(): void;
  /** Sends a notification that the core protocol does not define. */
  notify(notification: ForeignNotification): void;
  /** A tenant has left: ends its questions and its calls that were not sent yet. */
  left(caller: TenantCaller, error: IsthmusError): void;
  /** `about` is our request on whose stream the message came, if each request has its own stream. */
  request(request: DecodedRequest, about?: RequestId): void;
  notification(notification: DecodedNotification, about?: RequestId): void;
  response(response: DecodedResult | DecodedError): void;
  /** No more messages will come. */
  ended(error: IsthmusError): void;
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

/** Hands a notification of an extension to the call that it belongs to. False: the call has no use for it. */
export function carryTo(call: OutgoingCall | undefined, notification: ForeignNotification): boolean {
  const take = takerOf(call);
  tell('onNotification', take, notification);
  return take !== undefined;
}

/** Whether a notification of an extension may belong to this request: not to a subscription, which names itself. */
export function canCarryTo({ call }: { readonly call?: OutgoingCall | undefined }): boolean {
  return takerOf(call) !== undefined;
}

function takerOf(call: OutgoingCall | undefined): ((notification: ForeignNotification) => void) | undefined {
  return call?.onNotification ?? call?.behalf?.notify?.bind(call.behalf);
}

/** Publishes a diagnostic event for a message that matches nothing. */
export function report(connection: string, why: string, message: unknown): void {
  if (events.dropped.hasSubscribers) events.dropped.publish({ connection, why, message });
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
