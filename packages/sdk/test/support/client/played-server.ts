import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Message } from '../../../../../test/support/raw-client.js';
import { PATIENCE_MS } from '../../../../../test/support/until.js';
import {
  type Client,
  type ConnectOptions,
  type Connector,
  connect,
  IsthmusError,
} from '../../../src/index.js';
import { createStreamConnection } from '../../../src/transport/stream-connection.js';

/** The `_meta` of every request that a client without answers sends to a modern server. */
export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export const EVERYTHING = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

export type Era = 'modern' | 'legacy';

/** A server whose connections are played by the test, message by message. `scripted-server.ts` answers by a script. */
export class PlayedServer implements Connector {
  readonly label = 'scripted';
  readonly identity = undefined;
  readonly #waiting: ((played: Played) => void)[] = [];
  readonly #opened: Played[] = [];
  readonly maxLineBytes: number | undefined;

  constructor(options: { maxLineBytes?: number } = {}) {
    this.maxLineBytes = options.maxLineBytes;
  }

  connect() {
    const toClient = new PassThrough();
    const toServer = new PassThrough();
    const played = new Played(toClient, toServer);
    onTestFinished(() => played.vanish());
    const waiting = this.#waiting.shift();
    if (waiting) waiting(played);
    else this.#opened.push(played);
    return createStreamConnection({
      label: 'scripted',
      input: toClient,
      output: toServer,
      ...(this.maxLineBytes !== undefined && { maxLineBytes: this.maxLineBytes }),
      release() {
        toServer.end();
      },
    });
  }

  /** The next connection that a client opens. */
  accept(): Promise<Played> {
    const played = this.#opened.shift();
    if (played) return Promise.resolve(played);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Connections that were opened and not accepted. */
  get unplayed(): number {
    return this.#opened.length;
  }
}

/** One connection, seen from the server. */
export class Played {
  /** Settles when the client has ended its side. */
  readonly closed: Promise<void>;
  isClosed = false;
  readonly #toClient: PassThrough;
  readonly #arrived: Message[] = [];
  #rest = '';
  #wake: () => void = () => {};

  constructor(toClient: PassThrough, toServer: PassThrough) {
    this.#toClient = toClient;
    toServer.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop()!;
      for (const line of lines) this.#arrived.push(JSON.parse(line) as Message);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      toServer.on('end', () => {
        this.isClosed = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** The next frame, exactly as it was sent. */
  async next(): Promise<Message> {
    while (this.#arrived.length === 0) {
      if (this.isClosed) throw new Error('the client has closed; no frame will come');
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no frame within ${PATIENCE_MS} ms`)), PATIENCE_MS);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.#arrived.shift()!;
  }

  /** What was sent and not yet taken with `next`, once everything under way has happened. */
  async rest(): Promise<Message[]> {
    await settle();
    return this.#arrived.splice(0);
  }

  /** All in one write. */
  send(...messages: object[]): void {
    this.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  }

  write(text: string): void {
    this.#toClient.write(text);
  }

  answer(to: Message, result: object): void {
    this.send({ id: to.id, result });
  }

  refuse(to: Message, code: number, message: string, data?: unknown): void {
    this.send({ id: to.id, error: { code, message, ...(data !== undefined && { data }) } });
  }

  /** The server is gone. */
  vanish(): void {
    this.#toClient.destroy();
  }
}

export interface Meeting {
  readonly client: Client;
  readonly server: Played;
  readonly connector: PlayedServer;
}

/** Connects in the given era; the opening is played, and what follows is the test's. */
export async function meet(
  era: Era,
  options: ConnectOptions & { capabilities?: object; maxLineBytes?: number } = {},
): Promise<Meeting> {
  const { capabilities = EVERYTHING, maxLineBytes, ...rest } = options;
  const connector = new PlayedServer(maxLineBytes === undefined ? {} : { maxLineBytes });
  const connecting = connect(connector, {
    info: { name: 'tester', version: '1' },
    mode: era,
    cache: false,
    ...rest,
  });
  connecting.catch(() => {});
  const server = await connector.accept();
  await welcome(era, server, capabilities);
  const client = await connecting;
  onTestFinished(() => client.close());
  return { client, server, connector };
}

/** Plays the opening of a connection. */
export async function welcome(era: Era, server: Played, capabilities: object = EVERYTHING): Promise<Message> {
  const opening = await server.next();
  if (era === 'modern') {
    server.answer(opening, {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities,
      instructions: 'Be kind.',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scripted', version: '9' } },
    });
  } else {
    server.answer(opening, {
      protocolVersion: '2025-11-25',
      capabilities,
      serverInfo: { name: 'scripted', version: '9' },
      instructions: 'Be kind.',
    });
    await server.next();
  }
  return opening;
}

/** A frame as the client must send it: in the modern era every request has its envelope. */
export function frame(
  era: Era,
  id: number,
  method: string,
  params: Record<string, unknown> = {},
  meta: object = {},
) {
  const _meta = era === 'modern' ? { ...META, ...meta } : meta;
  return {
    jsonrpc: '2.0',
    id,
    method,
    params: { ...params, ...(Object.keys(_meta).length > 0 && { _meta }) },
  };
}

/** The first id after the opening: `server/discover` or `initialize` took 0. */
export const FIRST = 1;

export function progress(token: unknown, value: number, more: object = {}): object {
  return {
    method: 'notifications/progress',
    params: { progressToken: token, progress: value, ...more },
  };
}

/** What ends up on `isthmus:dropped` during a test. */
export function collectDropped(): { why: string; message: unknown }[] {
  const seen: { why: string; message: unknown }[] = [];
  const note = (event: unknown) => void seen.push(event as { why: string; message: unknown });
  subscribe('isthmus:dropped', note);
  onTestFinished(() => void unsubscribe('isthmus:dropped', note));
  return seen;
}

/** The failure of a call, with what a caller decides by. */
export async function failure(
  call: Promise<unknown>,
): Promise<{ name: string; code: unknown; sent?: unknown; message: string; cause?: unknown }> {
  const error = await call.then(
    (value) => new Error(`it did not fail but gave ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown as Error,
  );
  const { name, message, cause } = error;
  return {
    name,
    message,
    cause,
    code: (error as { code?: unknown }).code,
    ...(error instanceof IsthmusError && { sent: error.sent }),
  };
}

/** Turns of the event loop after which everything in this process that waits for no timer has happened. */
export async function settle(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
