import type { ServedSession, SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import type { LoggingLevel } from '@isthmus/sdk/internal/wire/model.js';
import { clientOf } from '../telemetry/call-record.js';
import type { LiveSession } from './live-watcher.js';

/** What is told about legacy sessions. One for all of them. */
export interface SessionNews {
  began(session: WatchedKeeper): void;
  /** It is subscribed to more or fewer resources now. */
  subscribed(session: WatchedKeeper): void;
  ended(session: WatchedKeeper): void;
}

/** Tells about a legacy session. It keeps little, since there may be thousands of sessions while no page looks. */
export class WatchedKeeper implements SessionKeeper {
  readonly id: number;
  readonly #keeper: SessionKeeper;
  readonly #session: ServedSession;
  readonly #server: string;
  readonly #news: SessionNews;
  #since = 0;
  /** Most sessions subscribe to no resource. */
  #uris: Set<string> | undefined;

  constructor(id: number, keeper: SessionKeeper, session: ServedSession, server: string, news: SessionNews) {
    this.id = id;
    this.#keeper = keeper;
    this.#session = session;
    this.#server = server;
    this.#news = news;
  }

  /** To how many resources it is subscribed. */
  get subscribed(): number {
    return this.#uris?.size ?? 0;
  }

  get facts(): LiveSession {
    const { peer } = this.#session;
    const { principal, revision } = peer;
    return {
      ...{ id: this.id, server: this.#server, principal, client: clientOf(peer), revision },
      ...{ since: this.#since, subscribed: this.subscribed, end: () => this.#session.end() },
    };
  }

  begin(): void {
    this.#keeper.begin();
    this.#since = Date.now();
    this.#news.began(this);
  }

  setLogLevel(level: LoggingLevel): Promise<void> {
    return this.#keeper.setLogLevel(level);
  }

  async subscribe(uri: string): Promise<void> {
    await this.#keeper.subscribe(uri);
    this.#uris ??= new Set();
    this.#uris.add(uri);
    this.#news.subscribed(this);
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.#keeper.unsubscribe(uri);
    this.#uris?.delete(uri);
    this.#news.subscribed(this);
  }

  rootsChanged(): void {
    this.#keeper.rootsChanged();
  }

  end(): void {
    this.#keeper.end();
    this.#news.ended(this);
  }
}
