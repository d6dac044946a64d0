import type { Socket } from 'node:net';
import type { MemberAnswer } from '../cluster/cluster-control.js';
import type { LogLine } from '../log-tail.js';
import type { GatewayStatus } from '../server-state.js';
import { askControl, linesOf, notAGateway, openControlRequest } from './control-request.js';
import {
  ATTACH_PROTOCOL,
  type ConsoleLink,
  type Controlled,
  PARAMS_HEADER,
  parseJson,
  RESULT_HEADER,
  type ReloadReport,
  toHeader,
} from './protocol.js';

/**
 * A running gateway, from outside. Each request is a connection. All failures are `IsthmusError`s:
 * `ADDRESS_UNAVAILABLE` when no process listens or the socket is not to be trusted; those of the gateway have its codes.
 */
export interface ControlClient extends Controlled {
  readonly path: string;
  /** Settles when the gateway has begun to end. */
  shutdown(): Promise<void>;
  /** Opens a connection that then belongs to the caller and is no longer HTTP. */
  attach(params: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Attached>;
}

export interface Attached {
  /** Nothing is read before `resume()` or `pipe()`. */
  readonly stream: Socket;
  /** The bytes that came after the answer: `stream.unshift(leftover)` puts them back. */
  readonly leftover: Buffer;
  readonly result: unknown;
}

export interface ControlClientOptions {
  /** How long connecting and quick requests may take. Default 10 s. */
  readonly statusMs?: number;
  /** How long start, stop, restart and reload may take: running calls finish first. Default 5 min. */
  readonly actionMs?: number;
}

export function controlClient(path: string, options: ControlClientOptions = {}): ControlClient {
  const { statusMs = 10_000, actionMs = 300_000 } = options;
  const ask = (request: string, ms: number): Promise<unknown> => askControl(path, request, { ms });
  const act = async (name: string, action: string): Promise<void> => {
    await ask(`POST /servers/${encodeURIComponent(name)}/${action}`, actionMs);
  };
  return {
    path,
    status: async () => (await ask('GET /status', statusMs)) as GatewayStatus,
    restart: (name) => act(name, 'restart'),
    stop: (name) => act(name, 'stop'),
    start: (name) => act(name, 'start'),
    reload: async () => (await ask('POST /reload', actionMs)) as ReloadReport,
    async *logs(name, { lines, follow, all }, signal) {
      const query = new URLSearchParams({
        lines: `${lines}`,
        follow: `${follow}`,
        ...(all && { all: 'true' }),
      });
      if (name !== undefined) query.set('server', name);
      try {
        if (signal.aborted) return;
        const { response } = await openControlRequest(path, `GET /logs?${query}`, { ms: statusMs, signal });
        for await (const line of linesOf(response)) yield parseJson(line) as LogLine;
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    async console(access) {
      return (await askControl(path, 'POST /console', { ms: statusMs, params: { access } })) as ConsoleLink;
    },
    async members(request) {
      const ms = request.action === 'status' ? statusMs : actionMs;
      return (await askControl(path, 'POST /members', {
        ms,
        params: { ...request },
      })) as readonly MemberAnswer[];
    },
    async shutdown() {
      await ask('POST /shutdown', statusMs);
    },
    async attach(params, signal) {
      const headers = { connection: 'Upgrade', upgrade: ATTACH_PROTOCOL, [PARAMS_HEADER]: toHeader(params) };
      const { response, stream } = await openControlRequest(path, 'GET /attach', {
        ms: statusMs,
        signal,
        headers,
      });
      if (stream) return { ...stream, result: parseJson(response.headers[RESULT_HEADER]) };
      response.destroy();
      throw notAGateway(`HTTP ${response.statusCode}`);
    },
  };
}
