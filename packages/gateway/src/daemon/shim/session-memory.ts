import type { DecodedMessage, JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import {
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
 * What a legacy host has agreed with the server at the other end, so that it can be agreed again with another one
 * that takes its place. A modern host has nothing of the kind.
 */
export class SessionMemory {
  /** Asked for, and not answered yet. */
  readonly #pending = new Map<RequestId, () => void>();
  #opening: { readonly id: RequestId; readonly params: JsonObject | undefined } | undefined;
  #initialize: JsonObject | undefined;
  #isReady = false;
  #level: JsonObject | undefined;
  #ids = 0;
  readonly #wishes = new Map<string, object>();
  readonly #subscribed = new Map<string, JsonObject>();

  /** Whether there is anything to agree again. */
  get isOpen(): boolean {
    return this.#initialize !== undefined;
  }

  /** Somebody waits for news that only a living connection brings. */
  get awaitsNews(): boolean {
    return this.#subscribed.size > 0;
  }

  /** The handshake that is under way, if one is: it can be made again. */
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

  /** The connection is lost: what was not answered was not agreed. */
  lost(): void {
    this.#pending.clear();
  }

  /** What has to be said to another server: `initialize`, with an id of ours, and the rest when it is answered. */
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

  /** None that a host would take for itself. */
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
        const wish = {};
        this.#wishes.set(uri, wish);
        this.#pending.set(id, () => {
          // It may have been given up before it was agreed.
          if (this.#wishes.get(uri) === wish) this.#subscribed.set(uri, params!);
        });
        return;
      }
      case 'resources/unsubscribe':
        if (uri === undefined) return;
        this.#wishes.delete(uri);
        this.#subscribed.delete(uri);
    }
  }
}
