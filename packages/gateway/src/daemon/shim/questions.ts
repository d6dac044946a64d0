import {
  isJsonObject,
  type JsonObject,
  notificationMessage,
  type RequestId,
} from '@isthmus/sdk/internal/wire/json-rpc.js';

/**
 * The questions that the host has not answered yet. Every daemon counts its questions from 1, so the questions of a second
 * daemon get other ids: a late answer must not go to another question.
 */
export class Questions {
  /** The id that the daemon uses, by the id that the host has seen. */
  readonly #open = new Map<RequestId, RequestId>();
  /** Questions of daemons that are gone. Their answers are dropped. */
  readonly #forgotten = new Set<RequestId>();
  #daemons = 0;

  /** A question of the daemon. Returns the line for the host. */
  asked(line: Buffer, id: RequestId): Buffer {
    const shown = this.#daemons === 0 ? id : `isthmus-${this.#daemons}-${JSON.stringify(id)}`;
    this.#open.set(shown, id);
    return shown === id ? line : changed(line, (message) => ({ ...message, id: shown }));
  }

  /** An answer of the host. Returns the line for the daemon; undefined when no daemon waits for it. */
  answered(line: Buffer, shown: RequestId): Buffer | undefined {
    if (this.#forgotten.delete(shown)) return undefined;
    const id = this.#open.get(shown);
    this.#open.delete(shown);
    return id === undefined || id === shown ? line : changed(line, (message) => ({ ...message, id }));
  }

  /** Any other line of the daemon, which may cancel a question. */
  passing(line: Buffer): Buffer {
    if (this.#open.size === 0 || !line.includes(CANCELLED)) return line;
    return changed(line, (message) => {
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

  /** The daemon is gone. Returns the lines that cancel its open questions. */
  forget(): readonly string[] {
    this.#daemons += 1;
    const open = [...this.#open.keys()];
    this.#open.clear();
    for (const id of open) this.#forgotten.add(id);
    for (const id of this.#forgotten) {
      if (this.#forgotten.size <= MAX_FORGOTTEN) break;
      this.#forgotten.delete(id);
    }
    const reason = 'The server that asked is gone';
    return open.map((requestId) => JSON.stringify(notificationMessage(CANCELLED, { requestId, reason })));
  }
}

const CANCELLED = 'notifications/cancelled';
const MAX_FORGOTTEN = 1000;

function changed(line: Buffer, change: (message: JsonObject) => JsonObject): Buffer {
  const message: unknown = JSON.parse(line.toString('utf8'));
  return isJsonObject(message) ? Buffer.from(JSON.stringify(change(message))) : line;
}
