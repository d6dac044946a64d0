import type { Era } from '../exchange/call.js';
import type { DecodedError, DecodedNotification, DecodedRequest, DecodedResult } from '../wire/json-rpc.js';

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
  /** The peer will send nothing more: whatever waits for it ends now, whatever can still be answered goes on. */
  inputEnded(): void;
  /** Output has room again. */
  drained(): void;
  /** Ends what would otherwise never end (listens); running calls go on. */
  retire(): void;
  /** The connection is gone or the grace is over: stop everything. Nothing is sent. */
  dispose(reason: string): void;
}
