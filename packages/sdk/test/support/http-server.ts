import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import type { Message } from '../../../../test/support/messages.js';
import { PATIENCE_MS } from '../../../../test/support/until.js';
import {
  createServer,
  jsonSchema,
  type Served,
  type ServeOptions,
  type Server,
  serve,
} from '../../src/index.js';
import { type HttpListenOptions, http } from '../../src/transport/http.js';
import { REPLICAS, serveReplicated } from './round-robin.js';

export { until } from '../../../../test/support/until.js';

/** Requests written out by hand, over real sockets: what a client sees, and nothing more. */

export const VERSION = 'io.modelcontextprotocol/protocolVersion';
export const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
export const MODERN = '2026-07-28';

export interface Place {
  readonly url: string;
  readonly port: number;
  readonly served: Served;
}

/** Serves over HTTP on a free port until the test ends. */
export async function serveHttp(
  server: Server,
  options: HttpListenOptions = {},
  serveOptions: ServeOptions = {},
): Promise<Place> {
  const served =
    REPLICAS > 1
      ? await serveReplicated(server, options, serveOptions)
      : await serve(server, http({ port: 0, ...options }), serveOptions);
  onTestFinished(() => served.close({ graceMs: 0 }));
  const [url] = served.addresses as [string];
  return { url, port: Number(new URL(url).port), served };
}

/** A server with the tools that most tests need. */
export function plainServer(): Server {
  const server = createServer({ name: 'plain', version: '1' });
  server.tool('echo', { input: TEXT }, ({ text }) => text);
  server.tool('fail', {}, () => {
    throw new Error('secret at /etc/shadow');
  });
  server.tool('steps', {}, (_args, ctx) => {
    ctx.progress(1, 2);
    ctx.progress(2, 2);
    return 'done';
  });
  return server;
}

const TEXT = jsonSchema<{ text: string }>({
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
});

/** A promise and the hands that settle it. */
export function gate<T = void>(): { promise: Promise<T>; open(value: T): void } {
  let open!: (value: T) => void;
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** The body as one JSON value; fails when it is none. */
  readonly json: Message;
  /** The body as events; fails when it is no stream. */
  readonly events: readonly SseEvent[];
  /** The messages in the answer, whichever form it has. */
  readonly messages: readonly Message[];
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string | string[] | undefined>;
  readonly body?: string | Buffer;
  /** The loopback address to call from: 127.0.0.2 is another client than 127.0.0.1. */
  readonly from?: string;
}

/** One request on a connection of its own, read to the end. */
export async function ask(url: string, options: Ask = {}): Promise<Answer> {
  const stream = await open(url, options);
  await stream.end();
  return stream.answer();
}

/** One request; nobody waits for its answer. */
export function send(url: string, { method = 'POST', headers = {}, body, from }: Ask = {}): ClientRequest {
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  const request = httpRequest(url, {
    method,
    agent: false,
    headers: given as Record<string, string>,
    ...(from !== undefined && { localAddress: from }),
  });
  onTestFinished(() => void request.destroy());
  request.on('error', () => {});
  request.end(body);
  return request;
}

/** One request whose answer is read as it comes. */
export async function open(url: string, options: Ask = {}): Promise<Stream> {
  const request = send(url, options);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return new Stream(request, response);
}

export interface SseEvent {
  readonly event?: string;
  readonly id?: string;
  readonly retry?: string;
  readonly data?: string;
  /** A comment: the text behind the colon. */
  readonly comment?: string;
}

/** The answer to one request while it is being written. */
export class Stream {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  text = '';
  /** The server ended the answer in order. */
  complete = false;
  /** Nothing more will come. */
  over = false;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(request: ClientRequest, response: IncomingMessage) {
    this.request = request;
    this.response = response;
    this.status = response.statusCode!;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      this.text += text;
      this.#wake();
    });
    response.on('error', () => {});
    response.on('close', () => {
      this.complete = response.complete;
      this.over = true;
      this.#wake();
    });
  }

  get events(): SseEvent[] {
    expect(this.headers['content-type']).toBe('text/event-stream');
    return parseEvents(this.text);
  }

  get messages(): Message[] {
    return messagesIn(this.events);
  }

  /** The next message; comments and events without content are passed over. */
  async next(): Promise<Message> {
    await this.until('next message', () => this.messages.length > this.#taken);
    this.#taken += 1;
    return this.messages[this.#taken - 1]!;
  }

  async until(what: string, ready: () => boolean, limitMs = PATIENCE_MS): Promise<void> {
    if (ready()) return;
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!ready() && !this.over) return;
        stop();
        if (ready()) resolve();
        else reject(new Error(`The answer ended before: ${what}\n${this.text.slice(-500)}`));
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`No ${what} within ${limitMs} ms\n${this.text.slice(-500)}`));
      }, limitMs);
      const stop = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Waits for the end that the server makes. */
  async end(limitMs?: number): Promise<void> {
    await this.until('end of the answer', () => this.over, limitMs);
  }

  /** The client hangs up. */
  hangUp(): void {
    this.request.destroy();
  }

  answer(): Answer {
    const { status, headers, text } = this;
    return {
      status,
      headers,
      text,
      get json() {
        return JSON.parse(text) as Message;
      },
      get events() {
        expect(headers['content-type']).toBe('text/event-stream');
        return parseEvents(text);
      },
      get messages() {
        if (headers['content-type'] === 'text/event-stream') return messagesIn(parseEvents(text));
        const value = JSON.parse(text) as Message | Message[];
        return Array.isArray(value) ? value : [value];
      },
    };
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look();
  }
}

/** A parser of its own: the one under test must not judge itself. */
export function parseEvents(text: string): SseEvent[] {
  const blocks = text.split('\n\n');
  return blocks.slice(0, -1).map((block) => {
    const event: Record<string, string> = {};
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) event['comment'] = line.slice(1).trim();
      else event[line.slice(0, line.indexOf(':'))] = line.slice(line.indexOf(':') + 1).replace(/^ /, '');
    }
    return event as SseEvent;
  });
}

function messagesIn(events: readonly SseEvent[]): Message[] {
  return events
    .filter(({ data }) => data !== undefined && data !== '')
    .map(({ data }) => JSON.parse(data!) as Message);
}

/** What every POST carries. */
export const POST_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const;

export interface ModernOptions {
  readonly meta?: object;
  readonly capabilities?: object;
  /** Over the headers that the message needs; `undefined` takes one away. */
  readonly headers?: Record<string, string | undefined>;
}

/** A modern request in all its parts. */
export function modern(
  id: string | number,
  method: string,
  params: Record<string, unknown> = {},
  { meta = {}, capabilities = {}, headers = {} }: ModernOptions = {},
): Ask {
  const _meta = { [VERSION]: MODERN, [CAPABILITIES]: capabilities, ...meta };
  const name = method === 'resources/read' ? params['uri'] : params['name'];
  return {
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }),
    headers: {
      ...POST_HEADERS,
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...headers,
    },
  };
}

/** A modern tool call. */
export function modernCall(
  id: string | number,
  name: string,
  args: object = {},
  options: ModernOptions & { params?: object } = {},
): Ask {
  return modern(id, 'tools/call', { name, arguments: args, ...options.params }, options);
}

/** A legacy message, with whatever headers are given besides. */
export function legacy(message: unknown, headers: Record<string, string | undefined> = {}): Ask {
  return { body: JSON.stringify(message), headers: { ...POST_HEADERS, ...headers } };
}

export function legacyRequest(id: string | number, method: string, params?: object): object {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

export function legacyCall(id: string | number, name: string, args: object = {}, meta?: object): object {
  return legacyRequest(id, 'tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
}

export function initialize(
  id: string | number,
  protocolVersion = '2025-11-25',
  capabilities: object = {},
): object {
  const clientInfo = { name: 'raw', version: '0' };
  return legacyRequest(id, 'initialize', { protocolVersion, capabilities, clientInfo });
}

/** A legacy session, by hand. */
export interface LegacySession {
  readonly id: string;
  /** `Mcp-Session-Id`, and the version header from 2025-06-18 on. */
  readonly headers: Record<string, string>;
  post(message: unknown, more?: Record<string, string>): Promise<Answer>;
  /** The same, read as it comes. */
  open(message: unknown, more?: Record<string, string>): Promise<Stream>;
  get(more?: Record<string, string>): Promise<Stream>;
  delete(): Promise<Answer>;
}

export async function openSession(
  url: string,
  {
    revision = '2025-11-25',
    capabilities = {},
    headers = {},
    from,
  }: {
    revision?: string;
    capabilities?: object;
    headers?: Record<string, string>;
    from?: string;
  } = {},
): Promise<LegacySession> {
  const at = from === undefined ? {} : { from };
  const welcome = await ask(url, { ...legacy(initialize('init', revision, capabilities), headers), ...at });
  expect(welcome.status).toBe(200);
  const id = welcome.headers['mcp-session-id'] as string;
  const own = {
    ...headers,
    'mcp-session-id': id,
    ...(revision >= '2025-06-18' && { 'mcp-protocol-version': revision }),
  };
  const session: LegacySession = {
    id,
    headers: own,
    post: (message, more) => ask(url, { ...legacy(message, { ...own, ...more }), ...at }),
    open: (message, more) => open(url, { ...legacy(message, { ...own, ...more }), ...at }),
    get: (more) =>
      open(url, { method: 'GET', headers: { accept: 'text/event-stream', ...own, ...more }, ...at }),
    delete: () => ask(url, { method: 'DELETE', headers: own, ...at }),
  };
  const ready = await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  expect([ready.status, ready.text]).toEqual([202, '']);
  return session;
}

/** A socket on which a test writes HTTP by hand, well or badly. */
export class RawSocket {
  readonly socket: Socket;
  text = '';
  over = false;
  readonly closed: Promise<void>;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.text += text;
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.over = true;
        resolve();
      });
    });
  }

  write(text: string | Buffer): void {
    this.socket.write(text);
  }

  get status(): number | undefined {
    const found = /^HTTP\/1\.1 (\d{3})/.exec(this.text)?.[1];
    return found === undefined ? undefined : Number(found);
  }

  async until(what: string, ready: () => boolean, limitMs = PATIENCE_MS): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (!ready()) {
      if (Date.now() > deadline)
        throw new Error(`No ${what} within ${limitMs} ms: ${this.text.slice(0, 500)}`);
      if (this.over) throw new Error(`The connection ended before: ${what}: ${this.text.slice(0, 500)}`);
      await Promise.race([once(this.socket, 'data').catch(() => {}), this.closed, pause(50)]);
    }
  }
}

export async function rawSocket(port: number): Promise<RawSocket> {
  const socket = connect({ host: '127.0.0.1', port });
  onTestFinished(() => void socket.destroy());
  const raw = new RawSocket(socket);
  await once(socket, 'connect');
  return raw;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    timer.unref();
  });
}

/** Fails when something takes longer than it may; the timer does not outlive it. */
export async function within<T>(limitMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
