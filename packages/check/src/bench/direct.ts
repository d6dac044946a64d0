import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { ConnectionEnd } from '@isthmus/sdk/internal/exchange/connection.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { BenchRequest } from './model.js';
import { type BenchFailure, judgeError, judgeResult } from './outcome.js';

/** Makes one request and reports its outcome, once. It uses no promises: a driver must cost less than what it measures. */
export type DirectAsk = (settle: (failure: BenchFailure | undefined) => void) => void;

/** A way to a server that leaves out all that a client does for an application. */
export interface DirectWay {
  asker(request: BenchRequest): DirectAsk;
  close(): Promise<void>;
}

/** The params of a request as the era has them, made once. */
export function paramsOf(era: Era, revision: string, params: JsonObject): JsonObject {
  if (era === 'legacy') return params;
  const meta = {
    [META.protocolVersion]: revision,
    [META.clientCapabilities]: {},
    [META.clientInfo]: CLIENT_INFO,
  };
  return { ...params, _meta: meta };
}

export const CLIENT_INFO = { name: 'isthmus-bench', version: '0.1.0' };

export function failureOf(answer: {
  readonly result?: unknown;
  readonly error?: unknown;
}): BenchFailure | undefined {
  const { result, error } = answer;
  if (typeof result === 'object' && result !== null) return judgeResult(result as JsonObject);
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return { kind: `error ${String(code)}`, example: String(message).slice(0, 300), answered: true };
}

export function timedOut(ms: number): BenchFailure {
  return { kind: 'TIMED_OUT', example: `no answer within ${ms} ms`, answered: false };
}

/** What becomes of requests whose connection has ended. A process that exited is named by its exit code. */
export function judgeEnd({ error }: ConnectionEnd): BenchFailure {
  if (error instanceof IsthmusError) return judgeError(error);
  const why = error ? `: ${messageOf(error)}` : '';
  return {
    kind: 'CONNECTION_CLOSED',
    example: `the connection ended before the answer${why}`,
    answered: false,
  };
}

/** How often requests in flight are checked against their time limit. */
export const SWEEP_MS = 50;
