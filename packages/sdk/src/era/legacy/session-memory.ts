import {
  type DecodedMessage,
  isJsonObject,
  type JsonObject,
  type JsonRpcMessage,
  notificationMessage,
  type RequestId,
  requestMessage,
} from '../../wire/json-rpc.js';

export interface Replay {
  readonly id: RequestId;
  readonly initialize: JsonRpcMessage;
  readonly rest: readonly JsonRpcMessage[];
}

interface Subscriptions {
  readonly wanted: Map<string, object>;
  readonly accepted: Map<string, JsonObject>;
}

/**
 * The session of a legacy client: `initialize`, log level, subscriptions. It is repeated when another server, or another
 * process of the same server, takes the place of the first. A modern client has no session.
 */
export class SessionMemory {
  /** By the id of a request that is not answered yet: what its success changes. Undefined while there is none. */
  #pending: Map<RequestId, () => void> | undefined;
  readonly #idPrefix: string;
  readonly #onChange: () => void;
  #opening: { readonly id: RequestId; readonly params: JsonObject | undefined } | undefined;
  #initialize: JsonObject | undefined;
  #isReady = false;
  #level: JsonObject | undefined;
  #ids = 0;
  /** Undefined until the first subscription. */
  #subscriptions: Subscriptions | undefined;

  /** `idPrefix`: ids of repeated requests begin with it; no client uses such ids. */
  constructor(idPrefix: string, onChange: () => void = () => {}) {
    this.#idPrefix = idPrefix;
    this.#onChange = onChange;
  }

  /** Whether there is a session to repeat. */
  get isOpen(): boolean {
    return this.#initialize !== undefined;
  }

  /** Whether the client waits for notifications, which need a connection. */
  get hasSubscriptions(): boolean {
    return this.#subscribed.length > 0;
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
    const accept = this.#pending?.get(id);
    if (!accept && !this.#opening) return;
    this.#pending?.delete(id);
    if (this.#pending?.size === 0) this.#pending = undefined;
    if (this.#opening?.id === id) this.#opening = undefined;
    if (isError || !accept) return;
    accept();
    this.#onChange();
  }

  /** The connection is lost: pending requests have no effect. */
  lost(): void {
    this.#pending = undefined;
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
        ...this.#subscribed.map((params) => again('resources/subscribe', params)),
      ],
    };
  }

  /** What another process needs to repeat the session, as plain data. */
  record(): JsonObject {
    return {
      initialize: this.#initialize ?? {},
      ...(this.#level && { level: this.#level }),
      ...(this.#subscribed.length > 0 && { subscribed: this.#subscribed }),
    };
  }

  /**
   * Takes the session over from a record. The client counts as ready: if it was not yet, its own `initialized` is the
   * second one, which changes nothing.
   */
  restore({ initialize, level, subscribed }: JsonObject): void {
    this.#initialize = isJsonObject(initialize) ? initialize : {};
    this.#isReady = true;
    if (isJsonObject(level)) this.#level = level;
    for (const params of Array.isArray(subscribed) ? subscribed : []) {
      if (isJsonObject(params) && typeof params['uri'] === 'string')
        this.#allSubscriptions.accepted.set(params['uri'], params);
    }
  }

  get #subscribed(): readonly JsonObject[] {
    return [...(this.#subscriptions?.accepted.values() ?? [])];
  }

  get #allSubscriptions(): Subscriptions {
    this.#subscriptions ??= { wanted: new Map(), accepted: new Map() };
    return this.#subscriptions;
  }

  #await(id: RequestId, accept: () => void): void {
    this.#pending ??= new Map();
    this.#pending.set(id, accept);
  }

  #newId(): string {
    this.#ids += 1;
    return `${this.#idPrefix}${this.#ids}`;
  }

  #asked(id: RequestId, method: string, params: JsonObject | undefined): void {
    const uri = typeof params?.['uri'] === 'string' ? params['uri'] : undefined;
    switch (method) {
      case 'initialize':
        this.#opening = { id, params };
        this.#await(id, () => {
          this.#initialize = params ?? {};
        });
        return;
      case 'logging/setLevel':
        this.#await(id, () => {
          this.#level = params;
        });
        return;
      case 'resources/subscribe': {
        if (uri === undefined) return;
        const marker = {};
        const { wanted, accepted } = this.#allSubscriptions;
        wanted.set(uri, marker);
        this.#await(id, () => {
          // The client may have unsubscribed before the answer came.
          if (wanted.get(uri) === marker) accepted.set(uri, params!);
        });
        return;
      }
      case 'resources/unsubscribe':
        if (uri === undefined) return;
        this.#subscriptions?.wanted.delete(uri);
        if (this.#subscriptions?.accepted.delete(uri)) this.#onChange();
    }
  }
}
