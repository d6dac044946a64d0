import type { SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import type { LoggingLevel } from '@isthmus/sdk/internal/wire/model.js';
import type { LiveSession, LiveWatcher } from './live-watcher.js';

/** Tells a watcher about a legacy session. The watcher may come and go while the session lasts. */
export class WatchedKeeper implements SessionKeeper {
  readonly #keeper: SessionKeeper;
  readonly #about: LiveSession;
  readonly #watcher: () => LiveWatcher | undefined;
  readonly #uris = new Set<string>();

  constructor(keeper: SessionKeeper, about: LiveSession, watcher: () => LiveWatcher | undefined) {
    this.#keeper = keeper;
    this.#about = about;
    this.#watcher = watcher;
  }

  begin(): void {
    this.#keeper.begin();
    this.#watcher()?.sessionBegan(this.#about);
  }

  setLogLevel(level: LoggingLevel): Promise<void> {
    return this.#keeper.setLogLevel(level);
  }

  async subscribe(uri: string): Promise<void> {
    await this.#keeper.subscribe(uri);
    this.#uris.add(uri);
    this.#watcher()?.sessionSubscribed(this.#about.id, this.#uris.size);
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.#keeper.unsubscribe(uri);
    this.#uris.delete(uri);
    this.#watcher()?.sessionSubscribed(this.#about.id, this.#uris.size);
  }

  rootsChanged(): void {
    this.#keeper.rootsChanged();
  }

  end(): void {
    this.#keeper.end();
    this.#watcher()?.sessionEnded(this.#about.id);
  }
}
