import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Connector } from '../../../src/exchange/connection.js';
import { createStreamConnection } from '../../../src/transport/stream-connection.js';
import {
  createLineCutter,
  type Era,
  type Frame,
  Inbox,
  type LegacyRevision,
  type Message,
  type Revision,
  SERVER_INFO,
  settle,
} from './frames.js';

export interface FarOptions {
  readonly era: Era;
  /** Of a legacy server. */
  readonly revision?: LegacyRevision;
  readonly capabilities?: object;
  readonly instructions?: string | undefined;
  readonly info?: object;
  /** False: the test plays the openings, too. */
  readonly opens?: boolean;
}

/** A request or a notification of the bridge, and the connection it came on. */
export interface Heard extends Message {
  readonly on: FarConnection;
}

/** A server without a mind of its own, for a bridge to connect to. Openings are answered, the rest is the test's. */
export class FarServer implements Connector {
  readonly label = 'far';
  readonly identity = undefined;
  readonly connections: FarConnection[] = [];
  /** What later connections find. */
  options: FarOptions;
  /** Whether openings are answered here; otherwise by the test. */
  opens: boolean;
  /** Whether lists are answered here, with nothing in them: a host asks for them by itself. */
  lists = false;
  /** How many connections are refused before one succeeds. */
  unreachable = 0;
  readonly #inbox = new Inbox<Heard>('frame for the server');

  constructor(options: FarOptions) {
    this.options = options;
    this.opens = options.opens ?? true;
  }

  connect() {
    if (this.unreachable > 0) {
      this.unreachable -= 1;
      throw new Error('connection refused');
    }
    const toBridge = new PassThrough();
    const fromBridge = new PassThrough();
    this.accept(toBridge, fromBridge);
    return createStreamConnection({
      label: this.label,
      input: toBridge,
      output: fromBridge,
      alwaysReads: true,
      release: () => void fromBridge.end(),
    });
  }

  /** Plays the server on a pair of streams. */
  accept(toBridge: Writable, fromBridge: Readable): void {
    const connection = new FarConnection(toBridge, fromBridge, this.options, (heard) => {
      const { method } = heard;
      if (this.opens && (heard.on.welcome(heard) || method === 'notifications/initialized')) return;
      const list = LISTS.get(method ?? '');
      if (this.lists && list) return heard.on.answer(heard, { resultType: 'complete', [list]: [] });
      this.#inbox.push(heard);
    });
    this.connections.push(connection);
  }

  /** The next frame that is no opening, on whichever connection. */
  next(): Promise<Heard> {
    return this.#inbox.next();
  }

  async rest(): Promise<Heard[]> {
    await settle();
    return this.#inbox.drain();
  }

  /** Connections that the bridge has not closed. */
  get stillOpen(): FarConnection[] {
    return this.connections.filter(({ isOpen }) => isOpen);
  }
}

/** One connection, seen from the server. */
export class FarConnection {
  readonly frames: Frame[] = [];
  readonly revision: Revision;
  /** `server/discover` or `initialize`, whichever was accepted. */
  opening: Message | undefined;
  isOpen = true;
  readonly closed: Promise<void>;
  readonly #toBridge: Writable;
  readonly #options: FarOptions;
  readonly #onHeard: (heard: Heard) => void;

  constructor(
    toBridge: Writable,
    fromBridge: Readable,
    options: FarOptions,
    onHeard: (heard: Heard) => void,
  ) {
    this.#toBridge = toBridge;
    this.#options = options;
    this.#onHeard = onHeard;
    this.revision = options.era === 'modern' ? '2026-07-28' : (options.revision ?? '2025-11-25');
    fromBridge.setEncoding('utf8').on(
      'data',
      createLineCutter((message) => this.#hear(message)),
    );
    this.closed = new Promise((resolve) => {
      fromBridge.on('end', () => {
        this.isOpen = false;
        resolve();
      });
    });
  }

  send(message: object): void {
    const whole = { jsonrpc: '2.0', ...message };
    this.frames.push({ from: 'server', message: whole });
    this.#toBridge.write(`${JSON.stringify(whole)}\n`);
  }

  /** 2025-03-26: several messages in one array. */
  batch(messages: readonly Message[]): void {
    for (const message of messages) this.frames.push({ from: 'server', message });
    this.#toBridge.write(`${JSON.stringify(messages)}\n`);
  }

  answer(to: Message, result: object): void {
    this.send({ id: to.id, result });
  }

  refuse(to: Message, code: number, message: string, data?: unknown): void {
    this.send({ id: to.id, error: { code, message, ...(data !== undefined && { data }) } });
  }

  notify(method: string, params?: object): void {
    this.send({ method, ...(params && { params }) });
  }

  /** Legacy: a request of the server. */
  ask(id: string | number, method: string, params?: object): void {
    this.send({ id, method, ...(params && { params }) });
  }

  progress(of: Message, progress: number, more: object = {}): void {
    this.notify('notifications/progress', {
      progressToken: of.params._meta.progressToken,
      progress,
      ...more,
    });
  }

  /** Modern: what the server honours of a `subscriptions/listen`. */
  acknowledge(listen: Message, notifications: object = listen.params.notifications): void {
    this.notify('notifications/subscriptions/acknowledged', {
      _meta: { 'io.modelcontextprotocol/subscriptionId': listen.id },
      notifications,
    });
  }

  /** The server is gone. */
  vanish(): void {
    this.isOpen = false;
    this.#toBridge.destroy();
  }

  /** Answers `server/discover` or `initialize` as this server does; false for anything else. */
  welcome(message: Message): boolean {
    const { era, capabilities = PLAIN, instructions = 'Be kind.', info = INFO } = this.#options;
    if (message.method === 'server/discover') {
      if (era === 'legacy') {
        this.refuse(message, -32601, 'Method not found');
        return true;
      }
      this.opening = message;
      this.answer(message, {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities,
        instructions,
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [SERVER_INFO]: info },
      });
      return true;
    }
    if (message.method !== 'initialize') return false;
    if (era === 'modern') {
      const data = { supported: ['2026-07-28'], requested: message.params.protocolVersion };
      this.refuse(message, -32022, 'Unsupported protocol version', data);
      return true;
    }
    this.opening = message;
    this.answer(message, { protocolVersion: this.revision, capabilities, serverInfo: info, instructions });
    return true;
  }

  #hear(message: Message): void {
    this.frames.push({ from: 'client', message });
    // Not counted among the members: a frame is compared as it stood on the line.
    this.#onHeard(Object.defineProperty({ ...message }, 'on', { value: this }) as Heard);
  }
}

const LISTS = new Map([
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
]);

/** What most scripted servers can do. */
export const PLAIN = { tools: {}, resources: {}, prompts: {}, completions: {} };
export const INFO = { name: 'far', version: '9' };
