import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { FarOptions } from './far.js';
import { type Frame, Inbox, type Message, SERVER_INFO } from './frames.js';

/** One HTTP request of the bridge. */
export class Exchange {
  readonly verb: string;
  readonly headers: IncomingMessage['headers'];
  /** What was posted. */
  readonly message: Message;
  /** The bridge has hung up, or the answer is complete. */
  isOver = false;
  isComplete = false;
  readonly #response: ServerResponse;
  readonly #note: (message: Message) => void;

  constructor(
    request: IncomingMessage,
    message: Message,
    response: ServerResponse,
    note: (message: Message) => void,
  ) {
    this.verb = request.method!;
    this.headers = request.headers;
    this.message = message;
    this.#response = response;
    this.#note = note;
    response.on('close', () => {
      this.isOver = true;
      this.isComplete = response.writableFinished;
    });
  }

  /** Answers with one JSON message. */
  answer(result: object, headers: Record<string, string> = {}): void {
    this.#json({ id: this.message.id, result }, 200, headers);
  }

  refuse(code: number, message: string, data?: unknown, status = 200): void {
    this.#json(
      { id: this.message.id, error: { code, message, ...(data !== undefined && { data }) } },
      status,
      {},
    );
  }

  /** Answers with a status and no message. */
  status(status: number, headers: Record<string, string> = {}): void {
    this.#response.writeHead(status, headers).end();
  }

  /** Sends a message on the stream of the answer, which it opens. */
  event(message: object, id?: string): void {
    const whole = { jsonrpc: '2.0', ...message };
    this.#note(whole);
    this.openStream();
    this.#response.write(
      `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${JSON.stringify(whole)}\n\n`,
    );
  }

  openStream(): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'text/event-stream' });
  }

  write(text: string): void {
    this.openStream();
    this.#response.write(text);
  }

  end(): void {
    this.#response.end();
  }

  /** The connection breaks. */
  break(): void {
    this.#response.destroy();
  }

  #json(body: object, status: number, headers: Record<string, string>): void {
    const whole = { jsonrpc: '2.0', ...body };
    this.#note(whole);
    this.#response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(whole));
  }
}

/** A scripted server at a URL. Openings, GET and DELETE are answered; other POSTs are the test's. */
export class FarHttp {
  readonly options: FarOptions;
  url = '';
  /** Everything that was asked for, in order. */
  readonly seen: Exchange[] = [];
  /** What crossed, by session; in the modern era each POST stands for itself. */
  readonly frames = new Map<string, Frame[]>();
  /** The standing stream of a legacy session, the newest last. */
  readonly gets: Exchange[] = [];
  /** False: there is no standing stream (405). */
  hasGet = true;
  /** Looks at each request first; true: it is dealt with. */
  before: (exchange: Exchange) => boolean = () => false;
  readonly #inbox = new Inbox<Exchange>('request for the server');
  readonly #known = new Set<string>();
  #sessions = 0;

  constructor(options: FarOptions) {
    this.options = options;
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.#hear(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  }

  next(): Promise<Exchange> {
    return this.#inbox.next();
  }

  /** A session that is no longer known: 404 from now on (SESS-006). */
  forget(session: string): void {
    this.#known.delete(session);
  }

  get methods(): string[] {
    return this.seen.map(({ verb, message }) => (verb === 'POST' ? (message.method ?? 'answer') : verb));
  }

  async #hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const message = (text === '' ? {} : JSON.parse(text)) as Message;
    const session = String(request.headers['mcp-session-id'] ?? '');
    const scope = this.options.era === 'modern' ? `POST ${this.seen.length}` : session;
    const frames = this.frames.get(scope) ?? [];
    this.frames.set(scope, frames);
    const exchange = new Exchange(request, message, response, (sent) =>
      frames.push({ from: 'server', message: sent }),
    );
    this.seen.push(exchange);
    if (this.before(exchange)) return;
    if (session !== '' && !this.#known.has(session)) return exchange.status(404);
    if (text !== '' && message.method !== 'server/discover') frames.push({ from: 'client', message });
    if (exchange.verb !== 'POST') return this.#standing(exchange);
    if (this.#welcome(exchange)) return;
    if (message.method === 'notifications/initialized') return exchange.status(202);
    // Answers and cancellations are accepted, and shown.
    if (message.id === undefined || message.method === undefined) exchange.status(202);
    this.#inbox.push(exchange);
  }

  #standing(exchange: Exchange): void {
    if (exchange.verb === 'DELETE') return exchange.status(200);
    if (!this.hasGet || this.options.era === 'modern') return exchange.status(405);
    exchange.openStream();
    exchange.write(': here\n\n');
    this.gets.push(exchange);
  }

  #welcome(exchange: Exchange): boolean {
    const {
      era,
      capabilities = { tools: {}, resources: {}, prompts: {} },
      revision = '2025-11-25',
    } = this.options;
    const info = { name: 'far', version: '9' };
    const { method } = exchange.message;
    if (method === 'server/discover' && era === 'legacy') {
      exchange.status(400);
      return true;
    }
    if (method === 'server/discover') {
      exchange.answer({
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities,
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [SERVER_INFO]: info },
      });
      return true;
    }
    if (method !== 'initialize') return false;
    const session = `s${++this.#sessions}`;
    this.#known.add(session);
    this.frames.set(session, [{ from: 'client', message: exchange.message }]);
    exchange.answer(
      { protocolVersion: revision, capabilities, serverInfo: info },
      { 'mcp-session-id': session },
    );
    return true;
  }
}
