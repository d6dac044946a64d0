import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Peer } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { Excess, LimitName } from './excess.js';

/** A call that was turned away, for whoever watches. */
export interface LimitRefusal {
  readonly server: string;
  readonly limit: LimitName;
  /** 429: it is the caller's own limit. 503: the server's. */
  readonly status: 429 | 503;
  readonly method: string;
  readonly principal: string | undefined;
  readonly retryAfterMs: number;
}

/** In `data`, since only modern HTTP has a status and a header for it (see `httpStatusOf`). */
export function toError({ limit, status, message, retryAfterMs }: Excess, server: string): ProtocolError {
  const wait = `try again in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s`;
  const data = { reason: 'BUSY', sent: 'no', status, server, limit, retryAfterMs };
  return new ProtocolError(ErrorCode.InternalError, `${message}; ${wait}`, data);
}

export function toRefusal(excess: Excess, server: string, method: string, peer: Peer): LimitRefusal {
  const { limit, status, retryAfterMs } = excess;
  return { server, limit, status, method, principal: peer.principal, retryAfterMs };
}
