import { messageOf, ProtocolError } from '../../errors.js';
import type { Change, ServedSession, SessionKeeper } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { LoggingLevel } from '../../wire/model.js';
import type { Hearer } from './audience.js';
import type { Part } from './part.js';

type AskOwner = (uri: string, action: (part: Part) => Promise<void>) => Promise<void>;

/** What several servers keep for one legacy session. One that has no place for it costs only itself. */
export class KeptSessions implements SessionKeeper, Hearer {
  readonly #near: ServedSession;
  readonly #askOwner: AskOwner;
  readonly #keepers = new Map<Part, SessionKeeper>();
  readonly #subscribed = new Map<string, Part>();
  /** Subscribed to at servers that are gone: another in their place may have them. */
  readonly #orphans = new Set<string>();
  #hasBegun = false;
  #level: LoggingLevel | undefined;
  /** Called when the session is over. */
  onEnd = () => {};

  constructor(near: ServedSession, parts: readonly Part[], askOwner: AskOwner) {
    this.#near = near;
    this.#askOwner = askOwner;
    for (const part of parts) this.adopt(part);
  }

  adopt(part: Part): void {
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

  drop(part: Part): void {
    this.#keepers.get(part)?.end();
    this.#keepers.delete(part);
    for (const [uri, owner] of this.#subscribed) {
      if (owner !== part) continue;
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
    const results = await Promise.allSettled(logging.map(([, keeper]) => keeper.setLogLevel(level)));
    const failed = results.filter((result) => result.status === 'rejected');
    if (failed.length < results.length || failed.length === 0) return;
    const message = `No server took the level: ${messageOf(failed[0]!.reason)}`;
    throw new ProtocolError(ErrorCode.InternalError, message);
  }

  async subscribe(uri: string): Promise<void> {
    await this.#askOwner(uri, (part) => this.#subscribeAt(part, uri));
  }

  async unsubscribe(uri: string): Promise<void> {
    const part = this.#subscribed.get(uri);
    this.#subscribed.delete(uri);
    if (this.#orphans.delete(uri)) return;
    if (part) return this.#keeperOf(part).unsubscribe(uri);
    await this.#askOwner(uri, (owner) => this.#keeperOf(owner).unsubscribe(uri));
  }

  rootsChanged(): void {
    for (const keeper of this.#keepers.values()) keeper.rootsChanged();
  }

  end(): void {
    this.onEnd();
    for (const keeper of this.#keepers.values()) keeper.end();
    this.#keepers.clear();
  }

  async #subscribeAt(part: Part, uri: string): Promise<void> {
    await this.#keeperOf(part).subscribe(uri);
    this.#subscribed.set(uri, part);
    this.#orphans.delete(uri);
  }

  #keeperOf(part: Part): SessionKeeper {
    const keeper = this.#keepers.get(part);
    if (keeper) return keeper;
    throw new ProtocolError(ErrorCode.InvalidParams, `${part.name} keeps nothing for this session`);
  }
}
