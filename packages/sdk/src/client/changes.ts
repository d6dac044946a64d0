import type { Change } from '../exchange/call.js';
import type { SubscriptionFilter } from '../wire/model.js';

/** What a client wants to hear of. */
export interface Wanted {
  readonly tools?: boolean;
  readonly prompts?: boolean;
  readonly resources?: boolean;
  /** Resources to watch, by URI. */
  readonly uris?: readonly string[];
}

/** News from a server, one at a time: `for await (const change of changes)`. */
export interface Changes extends AsyncIterable<Change>, AsyncDisposable {
  /** What the server will really tell; renewed after a reconnect. */
  readonly honoured: SubscriptionFilter;
  close(): void;
}

export function toFilter(wanted: Wanted): SubscriptionFilter {
  return {
    ...(wanted.tools && { toolsListChanged: true }),
    ...(wanted.prompts && { promptsListChanged: true }),
    ...(wanted.resources && { resourcesListChanged: true }),
    ...(wanted.uris && wanted.uris.length > 0 && { resourceSubscriptions: [...wanted.uris] }),
  };
}

/** A queue of changes that forgets repeats: a slow reader costs at most one entry for each thing that changes. */
export class ChangeQueue implements Changes {
  honoured: SubscriptionFilter = {};
  readonly #onClose: () => void;
  readonly #due = new Map<string, Change>();
  #wake: (() => void) | undefined;
  #ended: { readonly error?: unknown } | undefined;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  push(change: Change): void {
    if (this.#ended) return;
    this.#due.set(change.kind === 'resource' ? `resource ${change.uri}` : change.kind, change);
    this.#wake?.();
  }

  /** No more will come; what is queued is still delivered. */
  end(error?: unknown): void {
    this.#ended ??= error === undefined ? {} : { error };
    this.#wake?.();
  }

  close(): void {
    if (this.#ended) return;
    this.end();
    this.#onClose();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Change, void, undefined> {
    try {
      for (;;) {
        for (const [key, change] of this.#due) {
          this.#due.delete(key);
          yield change;
        }
        if (this.#due.size > 0) continue;
        if (this.#ended) {
          if (this.#ended.error !== undefined) throw this.#ended.error;
          return;
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
