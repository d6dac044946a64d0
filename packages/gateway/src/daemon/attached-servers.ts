import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { Connection } from '@isthmus/sdk/internal/exchange/connection.js';
import { AttachedServer, type AttachedServerContext } from './attached-server.js';
import type { AttachParams } from './definition.js';
import { withTransport } from './sse-first.js';

export interface AttachedServersOptions extends Omit<AttachedServerContext, 'clock'> {
  readonly clock?: Clock;
  /** Told when there is a server more or less, or a host. */
  readonly onChange: () => void;
  /** Nothing is left of a server. */
  readonly onGone: (name: string) => void;
}

/** All servers of the daemon: each as long as a host is attached to it, and for its grace. */
export class AttachedServers {
  readonly #options: AttachedServersOptions;
  readonly #clock: Clock;
  readonly #byKey = new Map<string, Kept>();
  /** On their way out: their processes may still live, and some servers cannot run twice. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Being made, which for some takes a moment. */
  #expected = 0;

  constructor(options: AttachedServersOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Nothing is served, and nothing is left of what was. */
  get isEmpty(): boolean {
    return this.#byKey.size + this.#leaving.size + this.#expected === 0;
  }

  get attached(): number {
    return this.all().reduce((sum, { attached }) => sum + attached, 0);
  }

  all(): AttachedServer[] {
    return [...this.#byKey.values()].map(({ server }) => server);
  }

  /** The server for whoever asks for this definition. It stays until `release`. Rejects when it makes no sense. */
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

  /** Two hosts may mean different things by the same name. */
  #freeName(wanted: string): string {
    const taken = new Set(this.all().map(({ name }) => name));
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? wanted : `${wanted} (${number})`;
      if (!taken.has(name)) return name;
    }
  }
}

/** A place at a server. */
export interface AttachedSession {
  readonly name: string;
  /** Settles when the host is gone; never rejects. `onBegin`: the connection is listened to. */
  serve(connection: Connection, onBegin: () => void): Promise<void>;
  release(): void;
}

interface Kept {
  readonly server: AttachedServer;
  users: number;
  callOff: () => void;
}

/**
 * Hosts with the same key share a server: all that may make a difference to it is in it. Names are not, nor are
 * variables that say something about the host that was started rather than about the server.
 */
export function sharingKey({ server, sseFirst }: Pick<AttachParams, 'server' | 'sseFirst'>): string {
  const { name: _, ...telling } = server;
  return createHash('sha256')
    .update(JSON.stringify(sorted([telling, sseFirst])))
    .digest('hex');
}

/** The order in which things were written makes no difference, except in lists. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  // An object, so that it is not mistaken for a list.
  return { of: entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]) };
}
