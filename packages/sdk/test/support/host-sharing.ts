import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { fixture } from '../../../../test/support/child.js';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { PATIENCE_MS } from '../../../../test/support/until.js';
import type { Clock } from '../../src/async/clock.js';
import {
  type CallToolResult,
  type Change,
  type Changes,
  type Client,
  createHost,
  type Host,
  type HostEvent,
  type IsthmusError,
  type ServerDefinition,
} from '../../src/index.js';

/** A message as it crossed the wire. */
export interface Wire {
  readonly id?: string | number | null;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages by path and compare with literals
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

export type Era = 'legacy' | 'modern';

/** A host with one server `it`, closed when the test ends. It remembers nothing and writes nothing down. */
export function hostOf(it: ServerDefinition, clock?: Clock): Host & { readonly seen: HostEvent[] } {
  const host = createHost({ servers: { it }, ledger: false, cache: false, ...(clock && { clock }) });
  const seen: HostEvent[] = [];
  host.watch((event) => void seen.push(event));
  onTestFinished(async () => {
    let closed = false;
    const closing = host.close().finally(() => {
      closed = true;
    });
    // What waits for time that stands still waits no more.
    while (clock instanceof FakeClock && !closed) {
      await settle(1);
      clock.advance(1000);
    }
    await closing;
  });
  return Object.assign(host, { seen });
}

/** A program of `test/process/` as a server. */
export function program(
  name: string,
  args: readonly string[] = [],
  more: Partial<ServerDefinition> = {},
): ServerDefinition {
  return { command: process.execPath, args: [fixture(name), ...args], ...more };
}

/** A server that the test plays, line by line. */
export interface Puppet {
  readonly definition: ServerDefinition;
  /** Settles when the process is there and the handshake is done. */
  readonly stage: Promise<Stage>;
}

export async function puppet(era: Era, more: Partial<ServerDefinition> = {}): Promise<Puppet> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-'));
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\${folder}` : join(folder, 's');
  const sockets = new Set<Socket>();
  let enter: (stage: Stage) => void = () => {};
  const stage = new Promise<Stage>((resolve) => {
    enter = resolve;
  });
  const strings = createServer((socket) => {
    sockets.add(socket);
    const opened = new Stage(socket, era);
    void opened.welcomed.then(() => enter(opened));
  });
  await new Promise<void>((resolve) => strings.listen(path, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    strings.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const definition = program('server-with-no-mind.mjs', [path], { mode: era, ...more });
  return { definition, stage };
}

/** One process, seen from inside. The handshake and the lists that the host reads at the start are played. */
export class Stage {
  readonly era: Era;
  /** What came with the handshake. */
  opening: Wire | undefined;
  readonly welcomed: Promise<void>;
  readonly #socket: Socket;
  readonly #arrived: Wire[] = [];
  #rest = '';
  #wake: () => void = () => {};
  #welcome: () => void = () => {};

  constructor(socket: Socket, era: Era) {
    this.era = era;
    this.#socket = socket;
    this.welcomed = new Promise((resolve) => {
      this.#welcome = resolve;
    });
    socket.on('error', () => {});
    socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop()!;
      for (const line of lines) this.#hear(JSON.parse(line) as Wire);
      this.#wake();
    });
  }

  /** The next message that the host has sent. */
  async next(): Promise<Wire> {
    while (this.#arrived.length === 0) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`nothing came within ${PATIENCE_MS} ms`)),
          PATIENCE_MS,
        );
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.#arrived.shift()!;
  }

  /** The next one, which must be of this method. */
  async expect(method: string): Promise<Wire> {
    const message = await this.next();
    if (message.method === method) return message;
    throw new Error(`expected ${method}, got ${JSON.stringify(message)}`);
  }

  /** All in one write. */
  send(...messages: object[]): void {
    this.#socket.write(
      messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''),
    );
  }

  answer(to: Wire, result: object): void {
    const envelope = this.era === 'modern' ? { resultType: 'complete' } : {};
    this.send({ id: to.id, result: { ...envelope, ...result } });
  }

  say(to: Wire, text: string): void {
    this.answer(to, { content: [{ type: 'text', text }] });
  }

  refuse(to: Wire, code: number, message: string): void {
    this.send({ id: to.id, error: { code, message } });
  }

  elicit(id: number | string, message: string): void {
    this.send(elicitation(id, message));
  }

  log(level: string, data: string): void {
    this.send(logLine(level, data));
  }

  /**
   * There and back: when it settles, the host has dealt with all that was said here, and what it returns is all
   * that the host had said before. (A ping is no call that could lead to a question.)
   */
  async roundTrip(client: Client): Promise<Wire[]> {
    const mark = client.request('test/mark');
    const before: Wire[] = [];
    for (;;) {
      const message = await this.next();
      if (message.method === 'test/mark') {
        this.answer(message, {});
        await mark;
        return before;
      }
      before.push(message);
    }
  }

  #hear(message: Wire): void {
    switch (message.method) {
      case 'server/discover':
        this.opening = message;
        this.answer(message, {
          supportedVersions: ['2026-07-28'],
          capabilities: CAPABILITIES,
          ...FRESHNESS,
          _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'puppet', version: '1' } },
        });
        return this.#welcome();
      case 'initialize':
        this.opening = message;
        return this.answer(message, {
          protocolVersion: '2025-11-25',
          capabilities: CAPABILITIES,
          serverInfo: { name: 'puppet', version: '1' },
        });
      case 'notifications/initialized':
        return this.#welcome();
      case 'tools/list':
        return this.answer(message, { tools: [], ...(this.era === 'modern' && FRESHNESS) });
      case 'resources/list':
        return this.answer(message, { resources: [], ...(this.era === 'modern' && FRESHNESS) });
      default:
        this.#arrived.push(message);
    }
  }
}

export function elicitation(id: number | string, message: string): object {
  const requestedSchema = { type: 'object', properties: { answer: { type: 'string' } } };
  return { id, method: 'elicitation/create', params: { message, requestedSchema } };
}

export function logLine(level: string, data: string): object {
  return { method: 'notifications/message', params: { level, data } };
}

/** Accepts every form, saying who did. */
export function answersOf(who: string): {
  elicit(question: { message: string }): { action: 'accept'; content: { answer: string } };
  readonly asked: string[];
} {
  const asked: string[] = [];
  return {
    asked,
    elicit({ message }) {
      asked.push(message);
      return { action: 'accept', content: { answer: who } };
    },
  };
}

export async function tool(call: Promise<CallToolResult>): Promise<string> {
  const { content } = await call;
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join(' ');
}

/** The failure of a call, with what a caller decides by. */
export async function failure(
  call: Promise<unknown>,
): Promise<Pick<IsthmusError, 'code' | 'sent' | 'message'>> {
  const error = await call.then(
    (value) => {
      throw new Error(`it did not fail but gave ${JSON.stringify(value)}`);
    },
    (thrown: unknown) => thrown as IsthmusError,
  );
  return { code: error.code, sent: error.sent, message: error.message };
}

/** What has been heard so far, and whether there will be more. */
export function collect(changes: Changes): { readonly heard: Change[]; readonly ended: Promise<unknown> } {
  const heard: Change[] = [];
  const ended = (async () => {
    for await (const change of changes) heard.push(change);
  })().catch((error: unknown) => error);
  return { heard, ended };
}

/** A promise that the test settles. */
export function gate<T = void>(): { readonly promise: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open: (value) => open(value) };
}

/** Settles when the host has read the lists that it reads at the start, so that much time can pass. */
export async function isProven(host: { readonly seen: readonly HostEvent[] }): Promise<void> {
  while (!host.seen.some(({ kind }) => kind === 'receipt')) await settle(1);
}

/** Turns of the event loop: what needs no other process and no time has happened. */
export async function settle(turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
  completions: {},
};
const FRESHNESS = { ttlMs: 0, cacheScope: 'private' };
