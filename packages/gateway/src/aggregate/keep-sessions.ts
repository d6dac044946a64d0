import { messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Change, Peer, ServedSession, SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { LoggingLevel } from '@isthmus/sdk/internal/wire/model.js';
import { deriveSession } from '../pipeline/derive.js';
import type { AggregateMember, MemberObserver } from './members.js';
import type { SubscribedAddresses } from './shared-uris.js';

export interface SessionContext {
  /** The servers that may have a resource: only the owner, if that is known. */
  ownersOf(uri: string): readonly AggregateMember[];
  readonly uris: SubscribedAddresses;
  /** Settles with the work, or after the patience of the aggregate. */
  inTime(work: Promise<unknown>): Promise<unknown>;
}

/** One legacy session at several servers. A server that refuses the session does not affect the others. */
export class KeptSessions implements SessionKeeper, MemberObserver {
  readonly #session: ServedSession;
  readonly #context: SessionContext;
  readonly #keepers = new Map<AggregateMember, SessionKeeper>();
  /** Keepers of removed servers that still finish calls. */
  readonly #leaving = new Set<SessionKeeper>();
  /** The addresses that the client has subscribed to, or asks for now. */
  readonly #wanted = new Set<string>();
  /** The servers at which each resource is subscribed to. */
  readonly #subscribed = new Map<string, Set<AggregateMember>>();
  /** Subscriptions of removed servers. A server that comes later may have these resources. */
  readonly #orphans = new Set<string>();
  #hasBegun = false;
  #level: LoggingLevel | undefined;
  /** Called when the session is over. */
  onEnd = () => {};

  constructor(session: ServedSession, members: readonly AggregateMember[], context: SessionContext) {
    this.#session = session;
    this.#context = context;
    for (const member of members) this.adopt(member);
  }

  get peer(): Peer {
    return this.#session.peer;
  }

  adopt(member: AggregateMember): void {
    if (this.#keepers.has(member)) return;
    try {
      const keeper = member.service.session?.(
        deriveSession(this.#session, (change) => this.#tell(member, change)),
      );
      if (!keeper) return;
      this.#keepers.set(member, keeper);
      if (!this.#hasBegun) return;
      keeper.begin();
      if (this.#level !== undefined) keeper.setLogLevel(this.#level).catch(() => {});
      for (const uri of this.#orphans) this.#subscribeAt(member, uri).catch(() => {});
    } catch {
      // The server refuses the session. Its calls report the reason.
    }
  }

  drop(member: AggregateMember, drained: Promise<void>): void {
    const keeper = this.#keepers.get(member);
    this.#keepers.delete(member);
    if (keeper) {
      this.#leaving.add(keeper);
      void drained.then(() => {
        if (this.#leaving.delete(keeper)) keeper.end();
      });
    }
    for (const [uri, members] of this.#subscribed) {
      if (!members.delete(member) || members.size > 0) continue;
      this.#subscribed.delete(uri);
      this.#orphans.add(uri);
    }
  }

  changed(change: Change): void {
    if (this.#hasBegun) this.#session.changed(change);
  }

  begin(): void {
    this.#hasBegun = true;
    for (const keeper of this.#keepers.values()) keeper.begin();
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    this.#level = level;
    const logging = [...this.#keepers].filter(([member]) => member.service.capabilities().logging);
    const failures: unknown[] = [];
    const attempts = logging.map(([, keeper]) =>
      keeper.setLogLevel(level).catch((error: unknown) => failures.push(error)),
    );
    await this.#context.inTime(Promise.all(attempts));
    if (failures.length < attempts.length || failures.length === 0) return;
    const message = `No server took the level: ${messageOf(failures[0])}`;
    throw new ProtocolError(ErrorCode.InternalError, message);
  }

  /** If the owner is not known, all servers are subscribed to: many accept any URI, so an acceptance proves nothing. */
  async subscribe(uri: string): Promise<void> {
    // A server may tell of a change at once.
    this.#wanted.add(uri);
    const failures: unknown[] = [];
    const attempts = this.#context
      .ownersOf(uri)
      .map((member) => this.#subscribeAt(member, uri).catch((error: unknown) => failures.push(error)));
    await this.#context.inTime(Promise.all(attempts));
    if (this.#subscribed.has(uri)) return;
    this.#wanted.delete(uri);
    const unknown = new ProtocolError(ErrorCode.InvalidParams, `No server tells of ${uri}`, { uri });
    throw failures[0] ?? unknown;
  }

  async unsubscribe(uri: string): Promise<void> {
    const members = this.#subscribed.get(uri) ?? [];
    this.#wanted.delete(uri);
    this.#subscribed.delete(uri);
    this.#orphans.delete(uri);
    const ends = [...members].map((member) =>
      this.#keepers.get(member)?.unsubscribe(this.#uriAt(member, uri)),
    );
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

  async #subscribeAt(member: AggregateMember, uri: string): Promise<void> {
    await this.#keeperOf(member).subscribe(this.#uriAt(member, uri));
    const members = this.#subscribed.get(uri) ?? new Set();
    this.#subscribed.set(uri, members.add(member));
    this.#orphans.delete(uri);
  }

  #uriAt(member: AggregateMember, shown: string): string {
    return this.#context.uris.at(member, shown) ?? shown;
  }

  #tell(member: AggregateMember, change: Change): void {
    if (change.kind !== 'resource') return this.#session.changed(change);
    for (const uri of this.#context.uris.heardAs(member, change.uri, this.#wanted))
      this.#session.changed({ ...change, uri });
  }

  #keeperOf(member: AggregateMember): SessionKeeper {
    const keeper = this.#keepers.get(member);
    if (keeper) return keeper;
    throw new ProtocolError(ErrorCode.InvalidParams, `${member.name} keeps nothing for this session`);
  }
}
