import { isThenable } from '../async/deferred.js';
import { IsthmusError, messageOf, ProtocolError } from '../errors.js';
import { events } from '../events.js';
import type { Call, Era, Service } from '../exchange/call.js';
import { countCall } from '../exchange/call-count.js';
import type { Connection } from '../exchange/connection.js';
import type { InboundCall, InboundCalls } from '../exchange/inbound-calls.js';
import { LateResult, type ResultListener } from '../exchange/late-result.js';
import { ErrorCode } from '../wire/error-codes.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  errorMessage,
  isJsonObject,
  type JsonObject,
  type JsonRpcErrorBody,
  notificationMessage,
  resultMessage,
} from '../wire/json-rpc.js';
import type { ServingSettings } from './serving-settings.js';

/** What a server dialect works with. */
export interface ServerDialectContext {
  readonly connection: Connection;
  readonly service: Service;
  readonly calls: InboundCalls;
  readonly settings: ServingSettings;
}

/** Answers a request, once. A result that cannot be written as JSON becomes an error. */
export function sendResult(side: ServerDialectContext, call: InboundCall, result: JsonObject): void {
  if (!call.live) return;
  side.calls.settle(call);
  try {
    side.connection.send(resultMessage(call.id, result));
  } catch (error) {
    side.connection.send(errorMessage(call.id, { code: ErrorCode.InternalError, message: messageOf(error) }));
  }
}

/** Answers a request with an error, once. Error data that cannot be written as JSON is left out. */
export function sendError(side: ServerDialectContext, call: InboundCall, thrown: JsonRpcErrorBody): void {
  if (!call.live) return;
  const error = call.stopped ? STOPPED : thrown;
  side.calls.settle(call);
  try {
    side.connection.send(errorMessage(call.id, error));
  } catch {
    side.connection.send(errorMessage(call.id, { code: error.code, message: error.message }));
  }
}

/** The answer to a request that the end of the server has aborted. */
export const STOPPED: JsonRpcErrorBody = {
  code: ErrorCode.InternalError,
  message: 'The server stopped before this request was finished',
};

/** Sends progress or a log line. It is dropped if the peer does not read, or if it cannot be written as JSON. */
export function sendInPassing(
  side: ServerDialectContext,
  method: string,
  params: JsonObject,
  about: InboundCall['id'] | undefined,
): void {
  const { connection } = side;
  if (connection.congested) return dropped(side, 'the peer does not read', params);
  try {
    connection.send(notificationMessage(method, params), about);
  } catch (error) {
    dropped(side, messageOf(error), params);
  }
}

/** Publishes a diagnostic event for a dropped message. */
export function dropped(side: ServerDialectContext, why: string, message: unknown): void {
  if (events.dropped.hasSubscribers)
    events.dropped.publish({ connection: side.connection.label, why, message });
}

/** Refuses a message: answers the peer with an error, and publishes a diagnostic event. */
export function refuse(
  side: ServerDialectContext,
  id: InboundCall['id'] | undefined,
  error: JsonRpcErrorBody,
): void {
  const { connection } = side;
  if (events.refused.hasSubscribers) events.refused.publish({ connection: connection.label, id, error });
  connection.send(errorMessage(id, error));
}

/** Records a request, or refuses it if its id is already in flight. */
export function acceptOnce(side: ServerDialectContext, id: InboundCall['id']): InboundCall | undefined {
  const call = side.calls.accept(id);
  if (call) return call;
  const error = {
    code: ErrorCode.InvalidRequest,
    message: `A request with id ${JSON.stringify(id)} is still in flight`,
  };
  refuse(side, id, error);
  return undefined;
}

export function busy({ calls }: ServerDialectContext): IsthmusError {
  const { running, waiting } = calls;
  return new IsthmusError('BUSY', `Too many requests: ${running} are running and ${waiting} are waiting`);
}

export function methodNotFound(method: string): JsonRpcErrorBody {
  return { code: ErrorCode.MethodNotFound, message: `Method not found: ${method}` };
}

/** A call that answers its request with its own outcome. */
export interface RunningCall extends Call, ResultListener {}

/**
 * Runs a call; a service that answers at once or with a `LateResult` costs no promise and no closure, and any other one
 * promise. Every error, also one of `complete`, ends in `fail`, so that no request is left without an answer.
 */
export function runCall(service: Service, call: RunningCall): void {
  countCall();
  try {
    const outcome = service.handle(call);
    if (outcome instanceof LateResult) outcome.deliverTo(call);
    else if (isThenable(outcome)) concludeLater(call, outcome);
    else call.complete(checkedResult(outcome));
  } catch (error) {
    call.fail(error);
  }
}

function concludeLater(call: RunningCall, outcome: PromiseLike<JsonObject>): void {
  Promise.resolve(outcome).then(
    (result) => {
      try {
        call.complete(checkedResult(result));
      } catch (error) {
        call.fail(error);
      }
    },
    (error) => call.fail(error),
  );
}

/** A service that is written in JavaScript may return anything. */
export function checkedResult(result: JsonObject): JsonObject {
  if (isJsonObject(result)) return result;
  throw new ProtocolError(ErrorCode.InternalError, 'The handler returned no result object');
}

/** Turns the messages of one connection into calls on a service, by the rules of one era. */
export interface ServerDialect {
  readonly era: Era;
  /** The revision in force, or `undefined` where each request names its own. */
  readonly revision: string | undefined;
  /** True while a running call waits for an answer of the peer. */
  readonly awaitsPeer: boolean;
  request(request: DecodedRequest): void;
  notification(notification: DecodedNotification): void;
  response(response: DecodedResult | DecodedError): void;
  /** The peer sends nothing more: questions to it fail now, calls that can still be answered go on. */
  inputEnded(): void;
  /** Output has room again. */
  drained(): void;
  /** The peer may have missed changes: it is told that everything it asked for may have changed. */
  missed?(): void;
  /** The answers of the peer go to another process: questions fail now, calls that can still be answered go on. */
  lost?(): void;
  /** Ends subscriptions, which would not end by themselves; running calls go on. */
  retire(): void;
  /** The connection is gone or the grace is over: cancels all calls. Nothing is sent. */
  dispose(reason: string): void;
}

/** The error that the peer gets for a failed call: the thrown code, fitted to the era, or -32603. Never a stack. */
export function toWireError(thrown: unknown, method: string, era: Era): JsonRpcErrorBody {
  if (thrown instanceof ProtocolError) {
    const code = fitCode(thrown.code, thrown.data, method, era);
    const message = messageOf(thrown);
    return thrown.data === undefined ? { code, message } : { code, message, data: thrown.data };
  }
  if (!(thrown instanceof IsthmusError) && events.handlerFailed.hasSubscribers) {
    events.handlerFailed.publish({ method, error: thrown });
  }
  return { code: ErrorCode.InternalError, message: messageOf(thrown) };
}

function fitCode(code: number, data: unknown, method: string, era: Era): number {
  if (!Number.isSafeInteger(code)) return ErrorCode.InternalError;
  if (era === 'legacy') {
    // A missing resource has its own code in the legacy revisions (ERR-022).
    const missingResource =
      method === 'resources/read' && isJsonObject(data) && typeof data['uri'] === 'string';
    if (code === ErrorCode.InvalidParams && missingResource) return ErrorCode.LegacyResourceNotFound;
    return code;
  }
  if (code === ErrorCode.LegacyResourceNotFound) return ErrorCode.InvalidParams; // ERR-006
  if (code === ErrorCode.LegacyUrlElicitationRequired) return ErrorCode.InternalError; // ERR-008
  return code;
}
