import { createDeferred, type Deferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { Change, Service } from '@isthmus/sdk/internal/exchange/call.js';

/** One of several servers that are served as one. */
export interface AggregateMember {
  readonly name: string;
  readonly service: Service;
  /** Why it cannot be called now, by this caller or by any. Undefined: it can be, or will be soon. */
  absence(viewer?: { readonly principal: string | undefined }): string | undefined;
}

/** A server that is missing from a list, and why. */
export interface Absent {
  readonly server: string;
  readonly reason: string;
}

/** The `_meta` key of lists that names absent servers, so that a client does not take their tools for deleted. */
export const ABSENT = 'isthmus/absent';

/** The calls of the aggregate that run at each server, so that a removed server can finish them. */
export class MemberCalls {
  readonly #members = new Map<AggregateMember, { calls: number; readonly idle: Deferred<void> }>();

  async run<T>(member: AggregateMember, work: () => T | Promise<T>): Promise<T> {
    const entry = this.#members.get(member) ?? { calls: 0, idle: createDeferred<void>() };
    this.#members.set(member, entry);
    entry.calls += 1;
    try {
      return await work();
    } finally {
      entry.calls -= 1;
      if (entry.calls === 0) {
        this.#members.delete(member);
        entry.idle.resolve();
      }
    }
  }

  /** Settles when none of its calls is running. */
  async drained(member: AggregateMember): Promise<void> {
    await this.#members.get(member)?.idle.promise;
  }
}

/** A subscription or session that spans all members, also those that come later. */
export interface MemberObserver {
  readonly peer: { readonly principal: string | undefined };
  /** This member can be called now. */
  adopt(member: AggregateMember): void;
  /** This member was removed. Its running calls are over when `drained` settles. */
  drop(member: AggregateMember, drained: Promise<void>): void;
  /** Something changed that does not belong to a single member. */
  changed(change: Change): void;
}

/** The open subscriptions and sessions of the aggregate. */
export class MemberObservers {
  readonly #observers = new Set<MemberObserver>();

  get size(): number {
    return this.#observers.size;
  }

  join(observer: MemberObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  adopt(member: AggregateMember): void {
    for (const observer of [...this.#observers]) observer.adopt(member);
  }

  drop(member: AggregateMember, drained: Promise<void>): void {
    for (const observer of [...this.#observers]) observer.drop(member, drained);
  }

  /** A member came or went, so all lists may have changed: for everyone, or for one principal. */
  announceLists(to?: { readonly principal: string | undefined }): void {
    for (const observer of [...this.#observers]) {
      if (to && observer.peer.principal !== to.principal) continue;
      for (const kind of LISTS) observer.changed({ kind });
    }
  }
}

const LISTS = ['tools', 'prompts', 'resources'] as const;
