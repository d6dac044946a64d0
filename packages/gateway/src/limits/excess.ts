import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Peer } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';

/** Which limit was reached, and what the caller should do. */
export interface Excess {
  readonly limit: LimitName;
  /** 429: it is the caller's own limit. 503: the server's. */
  readonly status: 429 | 503;
  /** Names the server and the limit. */
  readonly message: string;
  readonly retryAfterMs: number;
}

export type LimitName =
  | 'maxConcurrent'
  | 'maxConcurrentPerCaller'
  | 'maxQueue'
  | 'maxQueueMs'
  | 'maxListens'
  | 'maxListensPerCaller'
  | 'rate';

export interface CallLimits {
  readonly maxConcurrent: number;
  readonly maxConcurrentPerCaller: number;
  readonly maxQueue: number;
  readonly maxQueueMs: number;
}

export interface ListenLimits {
  readonly maxListens: number;
  readonly maxListensPerCaller: number;
}

/** A refused call, for metrics. */
export interface LimitRefusal {
  readonly server: string;
  readonly limit: LimitName;
  readonly status: 429 | 503;
  readonly method: string;
  readonly principal: string | undefined;
  readonly retryAfterMs: number;
}

export function callsExcess(
  server: string,
  { running, waiting }: { readonly running: number; readonly waiting: number },
  { maxQueue }: CallLimits,
): Excess {
  const queue = maxQueue > 0 ? `, ${waiting} waiting (maxQueue)` : '';
  const message = `${server} is busy: ${running} running (maxConcurrent)${queue}`;
  return { limit: maxQueue > 0 ? 'maxQueue' : 'maxConcurrent', status: 503, message, retryAfterMs: SOON_MS };
}

export function ownCallsExcess(server: string, { maxConcurrentPerCaller: max }: CallLimits): Excess {
  const message = `You have as many calls under way at ${server} as it takes from one caller (maxConcurrentPerCaller: ${max}): wait until one has ended`;
  return { limit: 'maxConcurrentPerCaller', status: 429, message, retryAfterMs: SOON_MS };
}

/** `mayRun`: the call did not wait because of the caller's own calls. */
export function waitExcess(server: string, { maxQueueMs }: CallLimits, mayRun: boolean): Excess {
  const message = `${server} is busy: this call has waited ${maxQueueMs / 1000} s for a place (maxQueueMs)`;
  return { limit: 'maxQueueMs', status: mayRun ? 503 : 429, message, retryAfterMs: SOON_MS };
}

export function listensExcess(
  server: string,
  open: number,
  own: number,
  limits: ListenLimits,
): Excess | undefined {
  const { maxListens, maxListensPerCaller } = limits;
  if (own >= maxListensPerCaller) {
    const message = `You have as many subscriptions open at ${server} as it takes from one caller (maxListensPerCaller: ${maxListensPerCaller}): end one, or listen to several things with one`;
    return { limit: 'maxListensPerCaller', status: 429, message, retryAfterMs: SOON_MS };
  }
  return open < maxListens ? undefined : allTaken(server, limits);
}

export function allTaken(server: string, { maxListens }: ListenLimits): Excess {
  const message = `${server} is busy: all ${maxListens} subscriptions are taken (maxListens)`;
  return { limit: 'maxListens', status: 503, message, retryAfterMs: SOON_MS };
}

export function rateExcess(server: string, perMinute: number, retryAfterMs: number): Excess {
  const message = `You call too often: a caller has ${perMinute} calls a minute (rate), and ${server} was not asked`;
  return { limit: 'rate', status: 429, message, retryAfterMs };
}

/** The status and the delay are in `data`, since only modern HTTP has a status and a header for them (see `httpStatusOf`). */
export function toError({ limit, status, message, retryAfterMs }: Excess, server: string): ProtocolError {
  const wait = `try again in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s`;
  const data = { reason: 'BUSY', sent: 'no', status, server, limit, retryAfterMs };
  return new ProtocolError(ErrorCode.InternalError, `${message}; ${wait}`, data);
}

export function toRefusal(excess: Excess, server: string, method: string, peer: Peer): LimitRefusal {
  const { limit, status, retryAfterMs } = excess;
  return { server, limit, status, method, principal: peer.principal, retryAfterMs };
}

/** When a running call ends is not known. */
const SOON_MS = 1000;
