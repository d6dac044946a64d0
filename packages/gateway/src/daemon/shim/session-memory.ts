import {
  type DecodedMessage,
  type JsonObject,
  type JsonRpcMessage,
  notificationMessage,
  type RequestId,
  requestMessage,
} from '@isthmus/sdk/internal/wire/json-rpc.js';

export interface Replay {
  readonly id: RequestId;
  readonly initialize: JsonRpcMessage;
  readonly rest: readonly JsonRpcMessage[];
}

/**
 * The session of a legacy host: `initialize`, log level, subscriptions. It is repeated when another server takes the place
 * of the first. A modern host has no session.
 */
export class SessionMemory {
  /** By the id of a request that is not answered yet: what its success changes. */
  readonly #pending = new Map<RequestId, () => void>();
  #opening: { readonly id: RequestId; readonly params: JsonObject | undefined } | undefined;
  #initialize: JsonObject | undefined;
  #isReady = false;
  #level: JsonObject | undefined;
  #ids = 0;
  readonly #wanted = new Map<string, object>();
  readonly #subscribed = new Map<string, JsonObject>();

  /** Whether there is a session to repeat. */
  get isOpen(): boolean {
    return this.#initialize !== undefined;
  }

  /** Whether the host waits for notifications, which need a connection. */
  get hasSubscriptions(): boolean {
    return this.#subscribed.size > 0;
  }

  /** The `initialize` that is not answered yet. It can be sent again. */
  get opening(): JsonRpcMessage | undefined {
    return this.#opening && requestMessage(this.#opening.id, 'initialize', this.#opening.params);
  }

  sent(message: DecodedMessage): void {
    if (message.kind === 'notification') {
      if (message.method === 'notifications/initialized') this.#isReady = true;
    } else if (message.kind === 'request') this.#asked(message.id, message.method, message.params);
  }

  answered(id: RequestId, isError: boolean): void {
    const accept = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#opening?.id === id) this.#opening = undefined;
    if (!isError) accept?.();
  }

  /** The connection is lost: pending requests have no effect. */
  lost(): void {
    this.#pending.clear();
  }

  /** What another server must be sent: `initialize` with a new id, and the rest when that is answered. */
  replay(): Replay | undefined {
    if (!this.#initialize) return undefined;
    const again = (method: string, params: JsonObject) => requestMessage(this.#newId(), method, params);
    const initialize = again('initialize', this.#initialize);
    return {
      id: initialize.id,
      initialize,
      rest: [
        ...(this.#isReady ? [notificationMessage('notifications/initialized')] : []),
        ...(this.#level ? [again('logging/setLevel', this.#level)] : []),
        ...[...this.#subscribed.values()].map((params) => again('resources/subscribe', params)),
      ],
    };
  }

  /** An id that no host uses. */
  #newId(): string {
    this.#ids += 1;
    return `isthmus-attach-${this.#ids}`;
  }

  #asked(id: RequestId, method: string, params: JsonObject | undefined): void {
    const uri = typeof params?.['uri'] === 'string' ? params['uri'] : undefined;
    switch (method) {
      case 'initialize':
        this.#opening = { id, params };
        this.#pending.set(id, () => {
          this.#initialize = params ?? {};
        });
        return;
      case 'logging/setLevel':
        this.#pending.set(id, () => {
          this.#level = params;
        });
        return;
      case 'resources/subscribe': {
        if (uri === undefined) return;
        const marker = {};
        this.#wanted.set(uri, marker);
        this.#pending.set(id, () => {
          // The host may have unsubscribed before the answer came.
          if (this.#wanted.get(uri) === marker) this.#subscribed.set(uri, params!);
        });
        return;
      }
      case 'resources/unsubscribe':
        if (uri === undefined) return;
        this.#wanted.delete(uri);
        this.#subscribed.delete(uri);
    }
  }
}
