import type { SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import type { LoggingLevel } from '@isthmus/sdk/internal/wire/model.js';

/** What is told about one legacy session. */
export interface SessionNews {
  began(): void;
  /** To how many resources it is subscribed now. */
  subscribed(count: number): void;
  ended(): void;
}

/** Tells about a legacy session. */
export class WatchedKeeper implements SessionKeeper {
  readonly #keeper: SessionKeeper;
  readonly #news: SessionNews;
  readonly #uris = new Set<string>();

  constructor(keeper: SessionKeeper, news: SessionNews) {
    this.#keeper = keeper;
    this.#news = news;
  }

  begin(): void {
    this.#keeper.begin();
    this.#news.began();
  }

  setLogLevel(level: LoggingLevel): Promise<void> {
    return this.#keeper.setLogLevel(level);
  }

  async subscribe(uri: string): Promise<void> {
    await this.#keeper.subscribe(uri);
    this.#uris.add(uri);
    this.#news.subscribed(this.#uris.size);
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.#keeper.unsubscribe(uri);
    this.#uris.delete(uri);
    this.#news.subscribed(this.#uris.size);
  }

  rootsChanged(): void {
    this.#keeper.rootsChanged();
  }

  end(): void {
    this.#keeper.end();
    this.#news.ended();
  }
}
