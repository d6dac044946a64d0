import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import type { PeerAddress } from '../../support/official.js';
import type { Json } from './revision.js';

export interface Frame {
  readonly from: 'client' | 'server';
  readonly message: Json;
}

/** What one server process lived through. */
export interface Life {
  readonly pid: number;
  readonly frames: readonly Frame[];
  /** Lines of the server that are not JSON: there must be none. */
  readonly garbage: readonly string[];
  /** Signals that the client sent. */
  readonly signals: readonly string[];
  readonly exit: { readonly code: number | null; readonly signal: string | null } | undefined;
}

/** The command that puts the tap before a server, and what the tap has seen. */
export interface Recording {
  readonly command: string;
  readonly args: string[];
  /** Where the server listens instead, when it is not reached through its stdin and stdout. */
  readonly http?: HttpSide;
  /** The processes launched so far, oldest first. */
  lives(): Life[];
  /** The process that the client talks to; a client that probes on a sibling has had one before. */
  life(): Life;
  /** Sees to it that no process is left, by force if it must, and removes the record. */
  close(): Promise<void>;
}

/** A server that a client reaches by HTTP, with a `fetch` that keeps what passes. */
export interface HttpSide {
  readonly kind: 'streamable' | 'sse';
  readonly url: URL;
  readonly fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
  /** Asks the server to end, and waits until it has. */
  stop(): Promise<void>;
}

/** Where an official client finds the recorded server. */
export function addressOf({ command, args, http }: Recording): PeerAddress {
  if (!http) return { command, args };
  return { url: http.url, ...(http.kind === 'sse' && { transport: 'sse' }) };
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TAP = fileURLToPath(new URL('tap.mjs', import.meta.url));

/** `program` is a path from the root of the repository. */
export function record(program: string, ...args: string[]): Recording {
  const directory = mkdtempSync(join(tmpdir(), 'isthmus-interop-'));
  const lives = () => readdirSync(directory).map((name) => readLife(join(directory, name)));
  return {
    command: process.execPath,
    args: [TAP, directory, process.execPath, join(ROOT, program), ...args],
    lives,
    life() {
      const talkedTo = lives().filter(({ frames }) => !isProbe(frames));
      expect(talkedTo, 'one process that the client talked to').toHaveLength(1);
      return talkedTo[0]!;
    },
    async close() {
      const taps = readdirSync(directory).map((name) => Number.parseInt(name, 10));
      const pids = [...taps, ...lives().map(({ pid }) => pid)];
      const left = () => pids.filter(isAlive);
      // A client that failed to connect lets go of its process without waiting for its end.
      await vi
        .waitFor(() => expect(left()).toEqual([]), { timeout: 20_000 })
        .catch(() => {
          for (const pid of left()) process.kill(pid, 'SIGKILL');
        });
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The official client in `auto` asks its one question of a process that it then throws away. */
function isProbe(frames: readonly Frame[]): boolean {
  const asked = frames.filter(({ from }) => from === 'client');
  return asked.every(({ message }) => message['method'] === 'server/discover');
}

function readLife(file: string): Life {
  const life = {
    pid: 0,
    frames: [] as Frame[],
    garbage: [] as string[],
    signals: [] as string[],
    exit: undefined as Life['exit'],
  };
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    if (text === '') continue;
    const entry = JSON.parse(text) as Json;
    if (entry['kind'] === 'started') life.pid = entry['pid'] as number;
    else if (entry['kind'] === 'signal') life.signals.push(entry['signal'] as string);
    else if (entry['kind'] === 'exit')
      life.exit = { code: entry['code'], signal: entry['signal'] } as Life['exit'];
    else if (entry['kind'] === 'line') {
      const from = entry['from'] as Frame['from'];
      const line = entry['line'] as string;
      try {
        life.frames.push({ from, message: JSON.parse(line) as Json });
      } catch {
        life.garbage.push(line);
      }
    }
  }
  return life;
}
