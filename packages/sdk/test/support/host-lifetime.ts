import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { fixture } from '../../../../test/support/child.js';
import { PATIENCE_MS, until } from '../../../../test/support/until.js';
import { systemClock, within } from '../../src/async/clock.js';
import { createHost, type Host, type HostOptions } from '../../src/host/create-host.js';
import type { ServerDefinition } from '../../src/host/definition.js';
import type { HostEvent } from '../../src/host/host-event.js';
import { readAllStats, readStat } from '../../src/process/proc-stat.js';

export { until };

/** Short enough for a test that has to wait for all of them. */
export const QUICK = { closeMs: 200, termMs: 200, killMs: 2000 };

/** What `server-never-the-same.mjs` is after one of its starts. */
export interface Stage {
  readonly eras?: 'dual' | 'legacy' | 'modern';
  readonly tools?: Readonly<Record<string, object>>;
  readonly resources?: boolean;
  readonly die?: number;
  readonly say?: string;
  readonly dieOn?: string;
  readonly failOn?: string;
  readonly silent?: boolean;
  readonly silentOn?: string;
  readonly deaf?: boolean;
  readonly stubborn?: boolean;
}

export interface Entry {
  readonly what: 'start' | 'end' | 'run' | 'got';
  readonly pid: number;
  readonly code?: number;
  readonly token?: unknown;
  readonly method?: string;
  readonly uri?: string;
  readonly level?: string;
}

export interface Programmed {
  readonly folder: string;
  definition(more?: Partial<ServerDefinition>): ServerDefinition;
  /** What it is from its next start on. */
  becomes(...stages: Stage[]): void;
  journal(): Entry[];
  /** The processes that were started, in order. */
  starts(): number[];
  /** The tokens of the calls that ran, in order. */
  ran(): unknown[];
  /** The requests that one process was sent, in order. */
  got(pid: number): string[];
  /** How many were alive at the same moment, at most, as far as they say themselves. */
  mostAlive(): number;
}

/** A server that is told before each start what to be. Without stages: a good one of both eras. */
export function programmed(...stages: Stage[]): Programmed {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-host-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const journal = () => lines(join(folder, 'journal')).map((line) => JSON.parse(line) as Entry);
  const becomes = (...next: Stage[]) => {
    const begun = journal().filter(({ what }) => what === 'start').length;
    const past = Array.from({ length: begun }, () => ({}));
    // At once or not at all: a process may be reading.
    writeFileSync(join(folder, 'next.json'), JSON.stringify([...past, ...next]));
    renameSync(join(folder, 'next.json'), join(folder, 'script.json'));
  };
  appendFileSync(join(folder, 'journal'), '');
  becomes(...(stages.length > 0 ? stages : [{}]));
  return {
    folder,
    definition: (more = {}) => ({
      command: process.execPath,
      args: [fixture('server-never-the-same.mjs'), folder],
      shutdown: QUICK,
      ...more,
    }),
    becomes,
    journal,
    starts: () => journal().flatMap(({ what, pid }) => (what === 'start' ? [pid] : [])),
    ran: () => journal().flatMap(({ what, token }) => (what === 'run' ? [token] : [])),
    got: (of) =>
      journal().flatMap(({ what, pid, method }) => (what === 'got' && pid === of ? [method!] : [])),
    mostAlive() {
      let alive = 0;
      let most = 0;
      for (const { what } of journal()) {
        if (what === 'start') alive += 1;
        if (what === 'end') alive -= 1;
        most = Math.max(most, alive);
      }
      return most;
    },
  };
}

/** Everything that a host tells of, as it comes. */
export interface Seen {
  readonly events: HostEvent[];
  all<K extends HostEvent['kind']>(kind: K): Of<K>[];
  kinds(server?: string): string[];
  /** Waits until there have been `count` of a kind, and gives the last of them. */
  nth<K extends HostEvent['kind']>(kind: K, count?: number): Promise<Of<K>>;
}

type Of<K extends HostEvent['kind']> = Extract<HostEvent, { readonly kind: K }>;

export interface Watched {
  readonly host: Host;
  readonly seen: Seen;
}

/**
 * A host without a memory, closed when the test ends. The test fails when a process is left that was not there
 * before, a zombie too.
 */
export function openHost(options: HostOptions = {}): Watched {
  const before = new Set(childrenOf(process.pid));
  const host = createHost({ ledger: false, cache: false, random: () => 0.5, ...options });
  const seen = see(host);
  onTestFinished(async () => {
    const closed = await within(systemClock, 10_000, host.close());
    const left = () => childrenOf(process.pid).filter((pid) => !before.has(pid));
    await until('no process is left behind', () => left().length === 0, 3000).catch((error) => {
      for (const pid of left()) if (readStat(pid)?.group === pid) process.kill(-pid, 'SIGKILL');
      throw error;
    });
    if (!closed) throw new Error('the host was not closed within 10 s');
  });
  return { host, seen };
}

export function see(host: Pick<Host, 'watch'>): Seen {
  const events: HostEvent[] = [];
  const waiting = new Set<() => void>();
  host.watch((event) => {
    events.push(event);
    for (const look of [...waiting]) look();
  });
  const all = <K extends HostEvent['kind']>(kind: K) =>
    events.filter((event) => event.kind === kind) as Of<K>[];
  return {
    events,
    all,
    kinds: (server) => events.flatMap((event) => (server && event.server !== server ? [] : [event.kind])),
    nth: (kind, count = 1) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = all(kind)[count - 1];
          if (!found) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(found);
        };
        const timer = setTimeout(() => {
          waiting.delete(look);
          const had = events.map((event) => event.kind).join(', ');
          reject(new Error(`no ${kind} number ${count} in time; there were ${had}`));
        }, PATIENCE_MS);
        waiting.add(look);
        look();
      }),
  };
}

/** All children of a process, zombies too. */
export function childrenOf(parent: number): number[] {
  return readAllStats().flatMap((stat) => (stat.parent === parent ? [stat.pid] : []));
}

export function zombiesOf(parent: number): number[] {
  return readAllStats().flatMap((stat) => (stat.parent === parent && stat.state === 'Z' ? [stat.pid] : []));
}

function lines(path: string): string[] {
  try {
    // A line that is being written has no end yet.
    return readFileSync(path, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}
