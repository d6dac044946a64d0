import { randomBytes } from 'node:crypto';
import { createDeferred } from '../../async/deferred.js';
import type { Connection, ConnectionEnd, Receiver } from '../../exchange/connection.js';
import { decodeLine, encodeMessage } from '../../wire/codec.js';
import type { Decoded, JsonRpcMessage } from '../../wire/json-rpc.js';
import { withTraceOf } from '../trace-headers.js';
import { messageEvent } from './event-text.js';
import { EventWriter } from './event-writer.js';
import type { HttpExchange, HttpHeaders } from './exchange.js';
import { isJson } from './guard.js';
import type { HttpEndpointSettings } from './options.js';

/** The transport of 2024-11-05: one stream that everything comes back on, and a place to post to. */
export class SseConnections {
  readonly #settings: HttpEndpointSettings;
  readonly #open = new Map<string, SseConnection>();

  constructor(settings: HttpEndpointSettings) {
    this.#settings = settings;
  }

  async handle(
    place: 'sse' | 'message',
    exchange: HttpExchange,
    principal: string | undefined,
    headers: HttpHeaders,
    accept: (connection: Connection) => void,
  ): Promise<void> {
    const method = place === 'sse' ? 'GET' : 'POST';
    if (exchange.method !== method) return exchange.respond(405, { ...headers, allow: method });
    if (place === 'sse') this.#begin(exchange, principal, headers, accept);
    else await this.#message(exchange, principal, headers);
  }

  keepAlive(now: number): void {
    for (const connection of this.#open.values()) connection.keepAlive(now, this.#settings.keepAliveMs);
  }

  #begin(
    exchange: HttpExchange,
    principal: string | undefined,
    headers: HttpHeaders,
    accept: (connection: Connection) => void,
  ): void {
    const { maxSessions, clock, sse } = this.#settings;
    if (this.#open.size >= maxSessions) return exchange.respond(503, { ...headers, 'retry-after': '1' });
    const id = randomBytes(24).toString('base64url');
    const connection = new SseConnection(exchange, principal, headers, () => clock.now());
    this.#open.set(id, connection);
    void connection.closed.then(() => this.#open.delete(id));
    accept(connection);
    connection.tellEndpoint(`${sse!.messagePath}?sessionId=${id}`);
  }

  async #message(exchange: HttpExchange, principal: string | undefined, headers: HttpHeaders): Promise<void> {
    if (!isJson(exchange.header('content-type'))) return exchange.respond(415, headers);
    const id = new URLSearchParams(exchange.target.split('?')[1] ?? '').get('sessionId') ?? '';
    const connection = this.#open.get(id);
    if (!connection || connection.principal !== principal) return exchange.respond(404, headers);
    const body = await exchange.body(this.#settings.maxBodyBytes);
    if (body.kind === 'gone') return;
    if (body.kind === 'too-large') return exchange.respond(413, headers);
    exchange.respond(202, headers);
    connection.deliver(withTraceOf(decodeLine(body.bytes), (name) => exchange.header(name)));
  }
}

class SseConnection implements Connection {
  readonly label = 'http+sse';
  readonly principal: string | undefined;
  readonly remote: string | undefined;
  readonly life = Promise.resolve();
  readonly closed: Promise<ConnectionEnd>;
  readonly #end = createDeferred<ConnectionEnd>();
  readonly #writer: EventWriter;
  readonly #now: () => number;
  readonly #held: Decoded[] = [];
  #isHeld = false;
  #receiver: Receiver | undefined;
  #over = false;

  constructor(
    exchange: HttpExchange,
    principal: string | undefined,
    headers: HttpHeaders,
    now: () => number,
  ) {
    this.principal = principal;
    this.remote = exchange.remote;
    this.closed = this.#end.promise;
    this.#now = now;
    this.#writer = new EventWriter(exchange, headers, now(), () => {
      if (!this.congested) this.#receiver?.drained();
    });
    exchange.onGone(() => this.#shut({ kind: 'lost' }));
  }

  get congested(): boolean {
    return this.#writer.waiting > CONGESTED_AT;
  }

  tellEndpoint(where: string): void {
    this.#writer.write(`event: endpoint\ndata: ${where}\n\n`, this.#now());
  }

  deliver(message: Decoded): void {
    if (this.#isHeld && message.kind === 'request') this.#held.push(message);
    else this.#receiver?.receive(message);
  }

  hold(held: boolean): void {
    this.#isHeld = held;
    while (!this.#isHeld) {
      const message = this.#held.shift();
      if (!message) return;
      this.#receiver?.receive(message);
    }
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  send(message: JsonRpcMessage): void {
    if (!this.#over) this.#writer.write(messageEvent(encodeMessage(message)), this.#now());
  }

  keepAlive(now: number, everyMs: number): void {
    if (now - this.#writer.lastAt >= everyMs) this.#writer.keepAlive(now);
  }

  async finish(): Promise<void> {
    this.close();
  }

  close(): void {
    this.#writer.end();
    this.#shut({ kind: 'closed' });
  }

  #shut(end: ConnectionEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#end.resolve(end);
  }
}

const CONGESTED_AT = 1024 * 1024;
