import type { Clock } from '../async/clock.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { ClusterKeys } from './cluster-keys.js';
import type { Members } from './members.js';
import type { ClusterStore } from './store.js';

export interface NewsOptions {
  readonly store: ClusterStore;
  readonly keys: ClusterKeys;
  readonly members: Members;
  readonly clock: Clock;
}

/** Messages to all other members, each at most once. The store can neither read nor make them. */
export class News {
  readonly #options: NewsOptions;
  readonly #due = new Map<string, () => void>();
  /** Messages that were published and received. */
  readonly counts = { sent: 0, received: 0 };

  constructor(options: NewsOptions) {
    this.#options = options;
  }

  /** Messages with the same subject within a moment are sent once: the last one. */
  publish(channel: string, subject: string, news: JsonObject): void {
    const { store, keys, members, clock } = this.#options;
    const key = JSON.stringify([channel, subject]);
    if (this.#due.size >= MAX_DUE && !this.#due.has(key)) return;
    this.#due.get(key)?.();
    const send = () => {
      this.#due.delete(key);
      const text = JSON.stringify({ from: members.self, news });
      this.counts.sent += 1;
      store.publish(channel, keys.sealer('news', channel).seal(Buffer.from(text))).catch(() => {});
    };
    this.#due.set(key, clock.after(GATHER_MS, send, { background: true }));
  }

  /** Calls back for the messages of other members; `onGap` when some may have been missed. */
  subscribe(channel: string, onNews: (news: JsonObject) => void, onGap: () => void): () => void {
    const { store, keys, members } = this.#options;
    const sealer = keys.sealer('news', channel);
    const onValue = (sealed: Uint8Array) => {
      const plain = sealer.open(sealed);
      const message = plain && parse(plain);
      if (!isJsonObject(message) || !isJsonObject(message['news'])) return;
      if (members.isSelf(String(message['from']))) return;
      this.counts.received += 1;
      onNews(message['news']);
    };
    return store.subscribe(channel, onValue, onGap);
  }
}

/** A member of another version may say it in another way. */
function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}

const GATHER_MS = 20;
const MAX_DUE = 10_000;
