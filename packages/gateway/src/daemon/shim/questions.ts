import {
  isJsonObject,
  type JsonObject,
  notificationMessage,
  type RequestId,
} from '@isthmus/sdk/internal/wire/json-rpc.js';

/**
 * What the host has been asked and has not answered. Every daemon counts its questions from the beginning, so those of
 * a second one get ids of their own: an answer that comes late must not be taken for that to another question.
 */
export class Questions {
  /** The id as the daemon has it, by that of the host. */
  readonly #open = new Map<RequestId, RequestId>();
  /** Of daemons that are gone; their answers go nowhere. */
  readonly #forgotten = new Set<RequestId>();
  #daemons = 0;

  /** A question of the daemon, as the host is to see it. */
  asked(line: Buffer, id: RequestId): Buffer {
    const shown = this.#daemons === 0 ? id : `isthmus-${this.#daemons}-${JSON.stringify(id)}`;
    this.#open.set(shown, id);
    return shown === id ? line : withMember(line, (message) => ({ ...message, id: shown }));
  }

  /** An answer of the host, as the daemon is to see it; undefined when nobody waits for it any more. */
  answered(line: Buffer, shown: RequestId): Buffer | undefined {
    if (this.#forgotten.delete(shown)) return undefined;
    const id = this.#open.get(shown);
    this.#open.delete(shown);
    return id === undefined || id === shown ? line : withMember(line, (message) => ({ ...message, id }));
  }

  /** Any other line of the daemon, which may take a question back. */
  passing(line: Buffer): Buffer {
    if (this.#open.size === 0 || !line.includes(CANCELLED)) return line;
    return withMember(line, (message) => {
      const { method, params } = message;
      if (method !== CANCELLED || !isJsonObject(params)) return message;
      for (const [shown, id] of this.#open) {
        if (id !== params['requestId']) continue;
        this.#open.delete(shown);
        return { ...message, params: { ...params, requestId: shown } };
      }
      return message;
    });
  }

  /** The daemon is gone: says so to the host of each question that is open. */
  forget(): readonly string[] {
    this.#daemons += 1;
    const open = [...this.#open.keys()];
    this.#open.clear();
    for (const id of open) this.#forgotten.add(id);
    for (const id of this.#forgotten) {
      if (this.#forgotten.size <= MAX_FORGOTTEN) break;
      this.#forgotten.delete(id);
    }
    const reason = 'Whoever asked is gone';
    return open.map((requestId) => JSON.stringify(notificationMessage(CANCELLED, { requestId, reason })));
  }
}

const CANCELLED = 'notifications/cancelled';
const MAX_FORGOTTEN = 1000;

function withMember(line: Buffer, change: (message: JsonObject) => JsonObject): Buffer {
  const message: unknown = JSON.parse(line.toString('utf8'));
  return isJsonObject(message) ? Buffer.from(JSON.stringify(change(message))) : line;
}
