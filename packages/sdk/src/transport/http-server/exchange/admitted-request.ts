import { encodeMessage } from '../../../wire/codec.js';
import { ErrorCode } from '../../../wire/error-codes.js';
import {
  errorMessage,
  type JsonObject,
  type JsonRpcErrorBody,
  type RequestId,
} from '../../../wire/json-rpc.js';
import type { BodyReservation } from '../admission/request-limits.js';
import type { Grant } from '../options.js';
import { jsonHeaders } from './event-writer.js';
import type { HttpExchange, HttpHeaders } from './exchange.js';

/** A request that passed the guard and authentication. */
export interface AdmittedRequest {
  readonly exchange: HttpExchange;
  readonly principal: string | undefined;
  /** The credential that it was admitted with, where credentials can end. */
  readonly grant?: Grant | undefined;
  /** Sent with every answer (CORS). */
  readonly headers: HttpHeaders;
  /** The memory that its body takes, where that is counted. */
  readonly reservation?: BodyReservation | undefined;
}

/** The answer to a request that was handed to another process, which ended before it answered. */
export const REPLICA_LOST: JsonRpcErrorBody = {
  code: ErrorCode.InternalError,
  message: 'The process that worked on this request has ended. The request may have been executed.',
  data: { reason: 'REPLICA_LOST', sent: 'maybe' },
};

type Answerable = Pick<AdmittedRequest, 'exchange' | 'headers'>;

export function respondError(
  { exchange, headers }: Answerable,
  status: number,
  id: RequestId | undefined,
  error: JsonRpcErrorBody,
): void {
  exchange.respond(status, jsonHeaders(headers), encodeMessage(errorMessage(id, error)));
}

/** An unexpected error. Its cause is not sent to the client. */
export function respondInternalError(exchange: HttpExchange): void {
  const error = { code: ErrorCode.InternalError, message: 'Internal error' };
  respondError({ exchange, headers: {} }, 500, undefined, error);
}

/** Refuses an HTTP request without reference to a message. */
export function refuse(
  { exchange, headers }: Answerable,
  status: number,
  why: string,
  more?: HttpHeaders,
  data?: JsonObject,
): void {
  const error = { code: ErrorCode.InvalidRequest, message: why, ...(data && { data }) };
  respondError({ exchange, headers: more ? { ...headers, ...more } : headers }, status, undefined, error);
}

/** The limit of the server is reached. */
export function busy(admitted: Answerable, why: string, id?: RequestId): void {
  respondLater(admitted, 503, why, id);
}

/** The share of this client is used up. */
export function tooMany(admitted: Answerable, why: string, id?: RequestId): void {
  respondLater(admitted, 429, why, id);
}

function respondLater({ exchange, headers }: Answerable, status: number, why: string, id?: RequestId): void {
  const error = { code: ErrorCode.InternalError, message: `${why}; try again later` };
  respondError({ exchange, headers: { ...headers, 'retry-after': '1' } }, status, id, error);
}

/** Answers a POST without requests: with errors for what could not be delivered, else with 202. */
export function respondRefusals(
  { exchange, headers }: Answerable,
  refusals: readonly string[],
  isBatch: boolean,
): void {
  if (refusals.length === 0) return exchange.respond(202, headers);
  exchange.respond(400, jsonHeaders(headers), isBatch ? `[${refusals.join(',')}]` : refusals[0]);
}
