import type { CallerRow, CallRow, EraName, SessionRow } from '../contract.js';
import { notFound } from '../http/console-error.js';

interface Caller {
  readonly principal: string | undefined;
  readonly clients: Set<string>;
  readonly eras: Set<EraName>;
  now: number;
  calls: number;
  errors: number;
  lastAt: number;
  /** The open calls, by server. A server stays here when its calls have ended. */
  readonly open: Map<string, number>;
}

/** Who calls, and the sessions of legacy clients: seen while the console is open. */
export class CallerStore {
  readonly #callers = new Map<string | undefined, Caller>();
  readonly #sessions = new Map<number, { row: SessionRow; readonly end: () => void }>();

  began({ client, server }: CallRow, at: number): void {
    const caller = this.#of(client?.principal);
    caller.now += 1;
    caller.calls += 1;
    caller.lastAt = at;
    if (server !== undefined) caller.open.set(server, (caller.open.get(server) ?? 0) + 1);
    if (client) caller.eras.add(client.era);
    if (client?.name !== undefined && caller.clients.size < MAX_CLIENTS)
      caller.clients.add(client.name.slice(0, 200));
  }

  ended({ client, server, outcome }: CallRow): void {
    const caller = this.#callers.get(client?.principal);
    if (!caller) return;
    caller.now -= 1;
    if (server !== undefined) caller.open.set(server, (caller.open.get(server) ?? 1) - 1);
    if (outcome === 'error' || outcome === 'tool_error') caller.errors += 1;
  }

  sessionBegan(row: SessionRow, end: () => void): void {
    this.#sessions.set(row.id, { row, end });
    if (this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(this.#sessions.keys().next().value!);
  }

  sessionSubscribed(id: number, subscribed: number): void {
    const session = this.#sessions.get(id);
    if (session) session.row = { ...session.row, subscribed };
  }

  sessionEnded(id: number): void {
    this.#sessions.delete(id);
  }

  sessions(): readonly SessionRow[] {
    return [...this.#sessions.values()].map(({ row }) => row);
  }

  /** Ends a session for its client. Returns what it was. */
  endSession(id: number): SessionRow {
    const session = this.#sessions.get(id);
    if (!session) throw notFound(`There is no session ${id}: it may have ended`);
    session.end();
    return session.row;
  }

  /** `limitOf`: how many calls of one caller may run at a server at once. */
  all(limitOf: (server: string) => number | undefined): readonly CallerRow[] {
    return [...this.#callers.values()].map(({ principal, clients, eras, open, ...counts }) => ({
      ...(principal !== undefined && { principal }),
      ...{ clients: [...clients], eras: [...eras], ...counts },
      sessions: this.sessions().filter((session) => session.principal === principal).length,
      limits: principal === undefined ? [] : usesOf(open, limitOf),
    }));
  }

  #of(principal: string | undefined): Caller {
    const known = this.#callers.get(principal);
    if (known) {
      // The one that called last is the last to be forgotten.
      this.#callers.delete(principal);
      this.#callers.set(principal, known);
      return known;
    }
    const caller = {
      principal,
      clients: new Set<string>(),
      eras: new Set<EraName>(),
      now: 0,
      calls: 0,
      errors: 0,
      lastAt: 0,
      open: new Map<string, number>(),
    };
    this.#callers.set(principal, caller);
    if (this.#callers.size > MAX_CALLERS) this.#callers.delete(this.#callers.keys().next().value);
    return caller;
  }
}

/** What is open above the limit waits. */
function usesOf(
  open: ReadonlyMap<string, number>,
  limitOf: (server: string) => number | undefined,
): CallerRow['limits'] {
  return [...open].flatMap(([server, calls]) => {
    const of = limitOf(server);
    if (of === undefined) return [];
    return [{ server, running: Math.min(calls, of), waiting: Math.max(0, calls - of), of }];
  });
}

const MAX_CALLERS = 1000;
const MAX_CLIENTS = 10;
const MAX_SESSIONS = 10_000;
