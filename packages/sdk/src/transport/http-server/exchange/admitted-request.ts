import { encodeMessage } from '../../../wire/codec.js';
import { ErrorCode } from '../../../wire/error-codes.js';
import { errorMessage, type JsonRpcErrorBody, type RequestId } from '../../../wire/json-rpc.js';
import type { BodyReservation } from '../admission/request-limits.js';
import type { Grant } from '../options.js';
import { jsonHeaders } from './event-writer.js';
import type { HttpExchange, HttpHeaders } from './exchange.js';

/** A request that was let in: who asks, and what goes on every answer. */
export interface AdmittedRequest {
  readonly exchange: HttpExchange;
  readonly principal: string | undefined;
  /** What it was allowed with, where that can end. */
  readonly grant?: Grant | undefined;
  readonly headers: HttpHeaders;
  /** What its body takes, where it has one. */
  readonly room?: BodyReservation | undefined;
}

type Answerable = Pick<AdmittedRequest, 'exchange' | 'headers'>;

export function respondError(
  { exchange, headers }: Answerable,
  status: number,
  id: RequestId | undefined,
  error: JsonRpcErrorBody,
): void {
  exchange.respond(status, jsonHeaders(headers), encodeMessage(errorMessage(id, error)));
}

/** A refusal that belongs to no message. */
export function refuse(
  { exchange, headers }: Answerable,
  status: number,
  why: string,
  more?: HttpHeaders,
): void {
  const error = { code: ErrorCode.InvalidRequest, message: why };
  respondError({ exchange, headers: more ? { ...headers, ...more } : headers }, status, undefined, error);
}

/** The server has too much to do. */
export function busy(visit: Answerable, why: string, id?: RequestId): void {
  respondLater(visit, 503, why, id);
}

/** This one client has too much to do. */
export function tooMany(visit: Answerable, why: string, id?: RequestId): void {
  respondLater(visit, 429, why, id);
}

function respondLater({ exchange, headers }: Answerable, status: number, why: string, id?: RequestId): void {
  const error = { code: ErrorCode.InternalError, message: `${why}; try again later` };
  respondError({ exchange, headers: { ...headers, 'retry-after': '1' } }, status, id, error);
}

/** For a POST of which nothing is to be answered but what could not be delivered. */
export function respondRefusals(
  { exchange, headers }: Answerable,
  refusals: readonly string[],
  isBatch: boolean,
): void {
  if (refusals.length === 0) return exchange.respond(202, headers);
  exchange.respond(400, jsonHeaders(headers), isBatch ? `[${refusals.join(',')}]` : refusals[0]);
}
