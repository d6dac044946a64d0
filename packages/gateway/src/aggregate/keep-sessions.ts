import { messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Change, ServedSession, SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { LoggingLevel } from '@isthmus/sdk/internal/wire/model.js';
import type { AggregateMember, Hearer } from './members.js';

export interface SessionContext {
  /** The servers that may have it: one, where that is known. */
  ownersOf(uri: string): readonly AggregateMember[];
  /** Settles with the work, or when it has taken long enough. */
  inTime(work: Promise<unknown>): Promise<unknown>;
}

/** What several servers keep for one legacy session. One that has no place for it costs only itself. */
export class KeptSessions implements SessionKeeper, Hearer {
  readonly #near: ServedSession;
  readonly #context: SessionContext;
  readonly #keepers = new Map<AggregateMember, SessionKeeper>();
  /** Of servers that are gone but for their last calls. */
  readonly #leaving = new Set<SessionKeeper>();
  /** At which servers each resource is subscribed to. */
  readonly #subscribed = new Map<string, Set<AggregateMember>>();
  /** Subscribed to at servers that are gone: another in their place may have them. */
  readonly #orphans = new Set<string>();
  #hasBegun = false;
  #level: LoggingLevel | undefined;
  /** Called when the session is over. */
  onEnd = () => {};

  constructor(near: ServedSession, parts: readonly AggregateMember[], context: SessionContext) {
    this.#near = near;
    this.#context = context;
    for (const part of parts) this.adopt(part);
  }

  adopt(part: AggregateMember): void {
    if (this.#keepers.has(part)) return;
    try {
      const keeper = part.service.session?.(this.#near);
      if (!keeper) return;
      this.#keepers.set(part, keeper);
      if (!this.#hasBegun) return;
      keeper.begin();
      if (this.#level !== undefined) keeper.setLogLevel(this.#level).catch(() => {});
      for (const uri of this.#orphans) this.#subscribeAt(part, uri).catch(() => {});
    } catch {
      // It has no place for this session; its calls say why.
    }
  }

  drop(part: AggregateMember, drained: Promise<void>): void {
    const keeper = this.#keepers.get(part);
    this.#keepers.delete(part);
    if (keeper) {
      this.#leaving.add(keeper);
      void drained.then(() => {
        if (this.#leaving.delete(keeper)) keeper.end();
      });
    }
    for (const [uri, parts] of this.#subscribed) {
      if (!parts.delete(part) || parts.size > 0) continue;
      this.#subscribed.delete(uri);
      this.#orphans.add(uri);
    }
  }

  changed(change: Change): void {
    if (this.#hasBegun) this.#near.changed(change);
  }

  begin(): void {
    this.#hasBegun = true;
    for (const keeper of this.#keepers.values()) keeper.begin();
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    this.#level = level;
    const logging = [...this.#keepers].filter(([part]) => part.service.capabilities().logging);
    const failures: unknown[] = [];
    const attempts = logging.map(([, keeper]) =>
      keeper.setLogLevel(level).catch((error: unknown) => failures.push(error)),
    );
    await this.#context.inTime(Promise.all(attempts));
    if (failures.length < attempts.length || failures.length === 0) return;
    const message = `No server took the level: ${messageOf(failures[0])}`;
    throw new ProtocolError(ErrorCode.InternalError, message);
  }

  /** Where it is not known who has it, all are asked to tell: many a server takes any URI, so a yes proves nothing. */
  async subscribe(uri: string): Promise<void> {
    const failures: unknown[] = [];
    const attempts = this.#context
      .ownersOf(uri)
      .map((part) => this.#subscribeAt(part, uri).catch((error: unknown) => failures.push(error)));
    await this.#context.inTime(Promise.all(attempts));
    if (this.#subscribed.has(uri)) return;
    const nobody = new ProtocolError(ErrorCode.InvalidParams, `No server tells of ${uri}`, { uri });
    throw failures[0] ?? nobody;
  }

  async unsubscribe(uri: string): Promise<void> {
    const parts = this.#subscribed.get(uri) ?? [];
    this.#subscribed.delete(uri);
    this.#orphans.delete(uri);
    const ends = [...parts].map((part) => this.#keepers.get(part)?.unsubscribe(uri));
    await this.#context.inTime(Promise.all(ends));
  }

  rootsChanged(): void {
    for (const keeper of this.#keepers.values()) keeper.rootsChanged();
  }

  end(): void {
    this.onEnd();
    for (const keeper of [...this.#keepers.values(), ...this.#leaving]) keeper.end();
    this.#keepers.clear();
    this.#leaving.clear();
  }

  async #subscribeAt(part: AggregateMember, uri: string): Promise<void> {
    await this.#keeperOf(part).subscribe(uri);
    const parts = this.#subscribed.get(uri) ?? new Set();
    this.#subscribed.set(uri, parts.add(part));
    this.#orphans.delete(uri);
  }

  #keeperOf(part: AggregateMember): SessionKeeper {
    const keeper = this.#keepers.get(part);
    if (keeper) return keeper;
    throw new ProtocolError(ErrorCode.InvalidParams, `${part.name} keeps nothing for this session`);
  }
}
