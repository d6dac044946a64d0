import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from '../../../../test/support/until.js';
import type { MemberAnswer } from '../../src/cluster/cluster-control.js';
import type { Controlled, LogLine, LogsOptions } from '../../src/control/index.js';
import type { GatewayServerStatus, GatewayStatus } from '../../src/server-state.js';

/**
 * Runs after the test, the latest first. A hook at the top of this file would not do: files that share a process load
 * it once, and the hook would belong to the first of them only.
 */
export function later(cleanUp: () => unknown): void {
  onTestFinished(async () => {
    await cleanUp();
  });
}

/** A folder of this test alone (mode 0700). */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-control-'));
  later(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface FakeGateway extends Controlled {
  /** What was asked of it, in order. */
  readonly asked: string[];
  /** The signals of the logs that were asked for. */
  readonly followed: AbortSignal[];
}

export interface FakeOptions {
  readonly status?: Partial<GatewayStatus>;
  readonly logs?: (
    name: string | undefined,
    options: LogsOptions,
    signal: AbortSignal,
  ) => AsyncIterable<LogLine>;
  readonly restart?: (name: string) => Promise<void>;
  /** What the processes of its cluster say. */
  readonly members?: readonly MemberAnswer[];
}

/** A gateway that does nothing but remember what it was told. */
export function fakeGateway(options: FakeOptions = {}): FakeGateway {
  const asked: string[] = [];
  const followed: AbortSignal[] = [];
  const note = async (what: string) => void asked.push(what);
  return {
    asked,
    followed,
    async status() {
      asked.push('status');
      return { ...STATUS, ...options.status };
    },
    async restart(name) {
      asked.push(`restart ${name}`);
      await options.restart?.(name);
    },
    stop: (name) => note(`stop ${name}`),
    start: (name) => note(`start ${name}`),
    async reload() {
      asked.push('reload');
      return { added: ['b'], changed: [], removed: [], unchanged: ['a'], problem: undefined };
    },
    logs(name, wanted, signal) {
      asked.push(`logs ${name ?? '*'} ${wanted.lines}${wanted.follow ? ' follow' : ''}`);
      followed.push(signal);
      return options.logs?.(name, wanted, signal) ?? nothing();
    },
    async console(access) {
      asked.push(`console ${access}`);
      return { url: 'http://127.0.0.1:4400/console/#enter=once' };
    },
    async members({ action, server = '' }) {
      asked.push(`members ${action} ${server}`.trim());
      return options.members ?? [];
    },
    shutdown: () => void asked.push('shutdown'),
  };
}

export const STATUS: GatewayStatus = {
  pid: 4711,
  version: '0.1.0',
  startedAt: '2026-07-28T09:00:00.000Z',
  listening: ['http://127.0.0.1:8080/mcp'],
  ready: true,
  servers: {},
  configProblem: undefined,
};

export function unit(name: string, more: Partial<GatewayServerStatus> = {}): GatewayServerStatus {
  return {
    name,
    kind: 'command',
    needed: true,
    state: 'ready',
    reason: undefined,
    era: 'legacy',
    evidence: 'It answered server/discover with -32601 "Method not found"',
    server: { name, version: '1.0.0' },
    paths: [`/mcp/${name}`],
    processes: undefined,
    ...more,
  };
}

async function* nothing(): AsyncGenerator<LogLine> {}

export function line(text: string, server = 'a'): LogLine {
  return { server, at: 1_700_000_000_000, source: 'stderr', text };
}

/** A raw client: the test decides what it sends. */
export async function rawClient(path: string): Promise<RawClient> {
  const socket = connect({ path, allowHalfOpen: true });
  later(() => socket.destroy());
  let text = '';
  socket.on('error', () => {});
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return {
    socket,
    received: () => text,
    has: (what) => until(`${what} is in ${text}`, () => text.includes(what)),
    async answer() {
      await until('the gateway hangs up', () => socket.readableEnded || socket.destroyed);
      const [head = '', rest = ''] = text.split('\r\n\r\n');
      const body = rest.slice(0, Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? rest.length));
      const [, status = '0'] = /^HTTP\/1.1 (\d+) /.exec(head) ?? [];
      return { status: Number(status), head, body: body.startsWith('{') ? JSON.parse(body) : body };
    },
  };
}

export interface RawClient {
  readonly socket: Socket;
  received(): string;
  /** Waits until this was received. */
  has(what: string): Promise<unknown>;
  /** Waits until the gateway hangs up. */
  answer(): Promise<{ readonly status: number; readonly head: string; readonly body: unknown }>;
}

/** The text of a request. */
export function http(request: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${request} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
