import { PassThrough } from 'node:stream';
import type { Connection, Listener } from '../../../src/exchange/connection.js';
import { createStreamConnection } from '../../../src/transport/stream-connection.js';
import {
  CAPABILITIES,
  CLIENT_INFO,
  createLineCutter,
  type Frame,
  Inbox,
  type LegacyRevision,
  type Message,
  type Revision,
  settle,
  VERSION,
} from './frames.js';

export interface ClientOptions {
  readonly principal?: string;
  readonly capabilities?: object;
  readonly info?: object;
}

/** Where clients of the bridge connect: byte streams inside one process. Every frame is kept. */
export class NearLink implements Listener {
  readonly ownsProcess = false;
  readonly clients: NearClient[] = [];
  #accept: ((connection: Connection) => void) | undefined;
  #stopped: () => void = () => {};

  async listen(accept: (connection: Connection) => void) {
    this.#accept = accept;
    const ended = new Promise<void>((resolve) => {
      this.#stopped = resolve;
    });
    return { address: 'near', ended, stop: async () => this.#stopped() };
  }

  /** A client that has not said anything yet. */
  raw(options: ClientOptions = {}): NearClient {
    const toBridge = new PassThrough();
    const fromBridge = new PassThrough();
    const connection = createStreamConnection({
      label: 'near',
      input: toBridge,
      output: fromBridge,
      release: () => void fromBridge.end(),
    });
    const { principal } = options;
    if (principal !== undefined) Object.defineProperty(connection, 'principal', { value: principal });
    const client = new NearClient(toBridge, fromBridge, options);
    this.clients.push(client);
    this.#accept!(connection);
    return client;
  }

  /** A client whose requests carry an envelope. */
  modern(options: ClientOptions = {}): NearClient {
    const client = this.raw(options);
    client.revision = '2026-07-28';
    return client;
  }

  /** A client that has had its handshake. */
  async legacy({ revision = '2025-11-25', ...options }: LegacyOptions = {}): Promise<NearClient> {
    const client = this.raw(options);
    await client.handshake(revision);
    return client;
  }
}

export type LegacyOptions = ClientOptions & { readonly revision?: LegacyRevision };

/** A client of the bridge that sends what it is told and shows what it gets. */
export class NearClient {
  readonly frames: Frame[] = [];
  readonly capabilities: object;
  readonly info: object;
  /** Decides how requests are written, and how frames are judged. */
  revision: Revision | undefined;
  isOpen = true;
  readonly closed: Promise<void>;
  readonly #toBridge: PassThrough;
  readonly #inbox = new Inbox<Message>('message for the client');

  constructor(toBridge: PassThrough, fromBridge: PassThrough, { capabilities, info }: ClientOptions) {
    this.#toBridge = toBridge;
    this.capabilities = capabilities ?? {};
    this.info = info ?? { name: 'near', version: '1' };
    const cut = createLineCutter((message) => {
      this.frames.push({ from: 'server', message });
      this.#inbox.push(message);
    });
    fromBridge.setEncoding('utf8').on('data', cut);
    this.closed = new Promise((resolve) => {
      fromBridge.on('end', () => {
        this.isOpen = false;
        this.#inbox.end();
        resolve();
      });
    });
  }

  /** Sends a message, or a batch of them. */
  send(message: object): void {
    for (const each of Array.isArray(message) ? message : [message]) {
      this.frames.push({ from: 'client', message: each as Message });
    }
    this.#toBridge.write(`${JSON.stringify(message)}\n`);
  }

  /** A request as its era writes it. */
  request(id: string | number, method: string, params: object = {}, meta: object = {}): void {
    this.send({ jsonrpc: '2.0', id, method, params: { ...params, ...this.meta(meta) } });
  }

  /** A tool call. */
  call(id: string | number, name: string, more: object = {}, meta: object = {}): void {
    this.request(id, 'tools/call', { name, arguments: {}, ...more }, meta);
  }

  meta(more: object = {}): { _meta?: object } {
    if (this.revision !== '2026-07-28') return Object.keys(more).length > 0 ? { _meta: more } : {};
    const own = { [VERSION]: this.revision, [CAPABILITIES]: this.capabilities, [CLIENT_INFO]: this.info };
    return { _meta: { ...own, ...more } };
  }

  notify(method: string, params?: object): void {
    this.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  cancel(requestId: string | number, reason = 'changed my mind'): void {
    this.notify('notifications/cancelled', { requestId, reason });
  }

  /** Answers a question of the bridge. */
  answer(to: Message, result: object): void {
    this.send({ jsonrpc: '2.0', id: to.id, result });
  }

  refuse(to: Message, code: number, message: string): void {
    this.send({ jsonrpc: '2.0', id: to.id, error: { code, message } });
  }

  async handshake(revision: LegacyRevision): Promise<Message> {
    this.revision = revision;
    const { capabilities, info: clientInfo } = this;
    this.request('init', 'initialize', { protocolVersion: revision, capabilities, clientInfo });
    const welcome = await this.next();
    if (welcome.error) throw new Error(`initialize failed: ${welcome.error.message}`);
    this.notify('notifications/initialized');
    return welcome;
  }

  next(): Promise<Message> {
    return this.#inbox.next();
  }

  /** What came and was not taken with `next`, once everything under way has happened. */
  async rest(): Promise<Message[]> {
    await settle();
    return this.#inbox.drain();
  }

  /** No more input; answers still arrive. */
  end(): void {
    this.#toBridge.end();
  }

  /** The client is gone, without a word. */
  vanish(): void {
    this.isOpen = false;
    this.#toBridge.destroy();
  }
}
