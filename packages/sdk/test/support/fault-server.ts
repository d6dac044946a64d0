import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as it arrived. */
export interface Seen {
  readonly verb: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly method: string | undefined;
  readonly id: unknown;
  readonly params: { readonly name?: string; readonly _meta?: Record<string, unknown> };
}

/** What a fault has in its hands. */
export interface Exchange extends Seen {
  readonly res: ServerResponse;
  /** How often this was asked before. */
  readonly before: number;
  /** Answers with JSON, as one should. */
  reply(result?: object, status?: number): void;
  refuse(status: number, error: object | undefined, headers?: Record<string, string>): void;
  /** Answers with this status and text. */
  say(status: number, text: string, headers?: Record<string, string>): void;
  /** Begins a stream of events; `event` writes one. */
  stream(headers?: Record<string, string>): void;
  event(message: object, id?: string): void;
}

export interface FaultServer {
  readonly url: string;
  readonly origin: string;
  readonly seen: readonly Seen[];
  /** The methods that were asked, in order, `GET` and `DELETE` by their verb. */
  methods(): string[];
  close(): Promise<void>;
}

export type Fault = (exchange: Exchange) => void;

/** Serves what the test says, on a free port, until the test ends. */
export async function faultServer(handle: Fault): Promise<FaultServer> {
  const seen: Seen[] = [];
  const server = createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    const body = text ? JSON.parse(text) : {};
    const request: Seen = {
      verb: req.method!,
      path: req.url!,
      headers: req.headers,
      method: body.method,
      id: body.id,
      params: body.params ?? {},
    };
    const before = seen.filter(
      (one) =>
        one.verb === request.verb && one.method === request.method && one.params.name === request.params.name,
    ).length;
    seen.push(request);
    handle({ ...request, res, before, ...hands(res, body.id) });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return {
    url: `${origin}/mcp`,
    origin,
    seen,
    methods: () => seen.map(({ verb, method }) => (verb === 'POST' ? String(method) : verb)),
    close,
  };
}

/** A modern server: discovery and the list of tools are in order, and calls of tools go wrong by their name. */
export function modernFaults(faults: Record<string, Fault>, tools: object[] = []): Promise<FaultServer> {
  return faultServer((exchange) => {
    const { method, params } = exchange;
    if (method === 'server/discover') return exchange.reply(DISCOVERED);
    if (method === 'tools/list') return exchange.reply({ tools, ttlMs: 0, cacheScope: 'private' });
    const fault = faults[String(method === 'tools/call' ? params.name : method)];
    if (fault) return fault(exchange);
    exchange.reply({ content: [{ type: 'text', text: 'fine' }] });
  });
}

/** A legacy server with sessions `s1`, `s2`, …; what is not part of the handshake is the test's. */
export function legacyFaults(handle: Fault): Promise<FaultServer> {
  return faultServer((exchange) => {
    const { verb, method, headers, res } = exchange;
    if (method === 'server/discover') return exchange.say(400, 'Bad Request');
    if (method === 'initialize') {
      res.setHeader('mcp-session-id', `s${exchange.before + 1}`);
      return exchange.reply(INITIALIZED);
    }
    if (method === 'notifications/initialized') return exchange.say(202, '');
    if (verb === 'DELETE') return exchange.say(200, '');
    if (verb === 'GET' && headers['last-event-id'] === undefined) return exchange.say(405, '');
    handle(exchange);
  });
}

export const DISCOVERED = {
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: { listChanged: true } },
  ttlMs: 0,
  cacheScope: 'private',
};
export const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'faulty', version: '1' },
};
export const FINE = { content: [{ type: 'text', text: 'fine' }] };

function hands(
  res: ServerResponse,
  id: unknown,
): Pick<Exchange, 'reply' | 'refuse' | 'say' | 'stream' | 'event'> {
  const say: Exchange['say'] = (status, text, headers = {}) => {
    res.writeHead(status, headers).end(text);
  };
  const json = { 'content-type': 'application/json' };
  return {
    say,
    reply: (result = {}, status = 200) =>
      say(
        status,
        JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }),
        json,
      ),
    refuse: (status, error, headers = {}) =>
      say(status, JSON.stringify({ jsonrpc: '2.0', id, error }), { ...json, ...headers }),
    stream: (headers = {}) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders();
    },
    event: (message, eventId) => {
      res.write(
        `${eventId === undefined ? '' : `id: ${eventId}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`,
      );
    },
  };
}
