import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { Connection } from '@isthmus/sdk/internal/exchange/connection.js';
import { AttachedServer, type AttachedServerContext } from './attached-server.js';
import type { AttachParams } from './definition.js';
import { withTransport } from './sse-first.js';

export interface AttachedServersOptions extends Omit<AttachedServerContext, 'clock'> {
  readonly clock?: Clock;
  /** Called when a server or a host comes or goes. */
  readonly onChange: () => void;
  /** A server has ended, with its processes. */
  readonly onGone: (name: string) => void;
}

/** All servers of the daemon. A server stays while a host is attached to it, and for its grace after that. */
export class AttachedServers {
  readonly #options: AttachedServersOptions;
  readonly #clock: Clock;
  readonly #byKey = new Map<string, Kept>();
  /** Servers that are ending. Their processes may still live, and some servers cannot run twice. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** How many calls of `take` are running. */
  #expected = 0;

  constructor(options: AttachedServersOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** There is no server, and none is starting or ending. */
  get isEmpty(): boolean {
    return this.#byKey.size + this.#leaving.size + this.#expected === 0;
  }

  get attached(): number {
    return this.all().reduce((sum, { attached }) => sum + attached, 0);
  }

  all(): AttachedServer[] {
    return [...this.#byKey.values()].map(({ server }) => server);
  }

  /** A session with the server of this definition. The server stays until `release`. Rejects invalid definitions. */
  async take(params: AttachParams): Promise<AttachedSession> {
    const key = sharingKey(params);
    this.#expected += 1;
    try {
      const settled = this.#byKey.has(key) ? params : await withTransport(params);
      while (this.#leaving.has(key)) await this.#leaving.get(key);
      return this.#takeNow(key, settled);
    } finally {
      this.#expected -= 1;
    }
  }

  async close(graceMs: number): Promise<void> {
    for (const [key, kept] of [...this.#byKey]) this.#leave(key, kept, graceMs);
    await Promise.all(this.#leaving.values());
  }

  #takeNow(key: string, params: AttachParams): AttachedSession {
    let kept = this.#byKey.get(key);
    if (!kept) {
      const server = new AttachedServer(this.#freeName(params.server.name), params, {
        ...this.#options,
        clock: this.#clock,
      });
      kept = { server, users: 0, callOff: () => {} };
      this.#byKey.set(key, kept);
    }
    const taken = kept;
    taken.callOff();
    taken.users += 1;
    this.#options.onChange();
    return {
      name: taken.server.name,
      serve: (connection, onBegin) => taken.server.serve(connection, onBegin),
      release: () => this.#release(key, taken, params.graceMs),
    };
  }

  #release(key: string, kept: Kept, graceMs: number): void {
    kept.users -= 1;
    if (kept.users === 0 && this.#byKey.get(key) === kept) {
      kept.callOff = this.#clock.after(graceMs, () => this.#leave(key, kept, 0));
    }
    this.#options.onChange();
  }

  #leave(key: string, kept: Kept, graceMs: number): void {
    kept.callOff();
    this.#byKey.delete(key);
    const leaving = kept.server
      .close(graceMs)
      .catch(() => {})
      .then(() => {
        this.#leaving.delete(key);
        this.#options.onGone(kept.server.name);
        this.#options.onChange();
      });
    this.#leaving.set(key, leaving);
    this.#options.onChange();
  }

  /** Two hosts may use one name for different servers. */
  #freeName(wanted: string): string {
    const taken = new Set(this.all().map(({ name }) => name));
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? wanted : `${wanted} (${number})`;
      if (!taken.has(name)) return name;
    }
  }
}

/** A host's use of a server. */
export interface AttachedSession {
  readonly name: string;
  /** Settles when the host is gone. Never rejects. `onBegin` is called when the connection is served. */
  serve(connection: Connection, onBegin: () => void): Promise<void>;
  release(): void;
}

interface Kept {
  readonly server: AttachedServer;
  users: number;
  callOff: () => void;
}

/**
 * Hosts with the same key share a server. The key has everything that may change the server's behaviour. It does not have
 * the name, nor the variables that describe the host instead of the server.
 */
export function sharingKey({ server, sseFirst }: Pick<AttachParams, 'server' | 'sseFirst'>): string {
  const { name: _, ...telling } = server;
  return createHash('sha256')
    .update(JSON.stringify(sorted([telling, sseFirst])))
    .digest('hex');
}

/** The order of members makes no difference. The order of lists does. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  // An object, so that it is not mistaken for a list.
  return { of: entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]) };
}
