import type { Clock } from '../async/clock.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import type { ChangeQueue, ChangeReader, Changes, Wanted } from '../client/subscriptions.js';
import { ProtocolError } from '../errors.js';
import type { Change, ListenEnd } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject } from '../wire/json-rpc.js';
import type { ServerCapabilities } from '../wire/model.js';

/**
 * The changes that a legacy session of a client is notified of: lists, without a request, and resources that it subscribed
 * to one by one. At the upstream this is one subscription. When it has to change, the new one is confirmed before the old
 * one ends, so that no change is missed.
 */
export class SessionChanges implements ChangeReader {
  readonly #caller: ReconnectingCaller;
  readonly #clock: Clock;
  readonly #capabilities: () => ServerCapabilities;
  readonly #onChange: (change: Change) => void;
  /** Most sessions subscribe to no resource. */
  #uris: Set<string> | undefined;
  #open: ChangeQueue | undefined;
  /** The subscription is replaced by one request at a time. */
  #changing: Promise<void> = Promise.resolve();
  #ended = false;
  #cancelRetry: (() => void) | undefined;

  constructor(
    caller: ReconnectingCaller,
    clock: Clock,
    capabilities: () => ServerCapabilities,
    onChange: (change: Change) => void,
  ) {
    this.#caller = caller;
    this.#clock = clock;
    this.#capabilities = capabilities;
    this.#onChange = onChange;
  }

  /** The client accepts notifications of changed lists. */
  begin(tries = 0): void {
    if (!isAnything(this.#wanted())) return;
    this.#change(() => this.#swap()).catch(() => {
      // No call waits for this subscription, so it is retried here.
      if (this.#ended) return;
      const delay = Math.min(RETRY_MS * 2 ** tries, MAX_RETRY_MS);
      this.#cancelRetry = this.#clock.after(delay, () => this.begin(tries + 1), { background: true });
    });
  }

  subscribe(uri: string): Promise<void> {
    return this.#change(async () => {
      if (this.#uris?.has(uri)) return;
      this.#uris ??= new Set();
      this.#uris.add(uri);
      try {
        await this.#swap();
        if (this.#open?.honoured.resourceSubscriptions?.includes(uri)) return;
        throw new ProtocolError(
          ErrorCode.InvalidParams,
          `The server does not accept subscriptions to ${uri}`,
          {
            uri,
          },
        );
      } catch (error) {
        this.#uris?.delete(uri);
        throw error;
      }
    });
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#change(async () => {
      if (this.#uris?.delete(uri)) await this.#swap();
    });
  }

  end(): void {
    this.#ended = true;
    this.#cancelRetry?.();
    this.#open?.close();
  }

  #wanted(): Wanted {
    const { tools, prompts, resources } = this.#capabilities();
    return {
      ...(tools?.listChanged && { tools: true }),
      ...(prompts?.listChanged && { prompts: true }),
      ...(resources?.listChanged && { resources: true }),
      ...(this.#uris && this.#uris.size > 0 && { uris: [...this.#uris] }),
    };
  }

  async #swap(): Promise<void> {
    if (this.#ended) return;
    const before = this.#open;
    const wanted = this.#wanted();
    this.#open = isAnything(wanted) ? await this.#caller.listen(wanted) : undefined;
    before?.close();
    if (this.#ended) this.#open?.close();
    else this.#open?.follow(this);
  }

  /** Called by the subscription. */
  changed(change: Change): void {
    if (!this.#ended) this.#onChange(change);
  }

  /** Called by the subscription. When it has ended with an error, a call reports what is wrong. */
  ended(_end: ListenEnd, changes: Changes): void {
    if (this.#ended || this.#open !== changes) return;
    this.#open = undefined;
    this.begin();
  }

  #change(action: () => Promise<void>): Promise<void> {
    const changing = this.#changing.then(action);
    this.#changing = changing.catch(() => {});
    return changing;
  }
}

function isAnything(wanted: Wanted): boolean {
  return Object.keys(wanted).length > 0;
}

const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** Elicitation ids by client. Only the client that was sent to the page is notified when the user is done there (ELIC-027). */
const known = new WeakMap<object, Set<string>>();

export function noteElicitation(owner: object | undefined, id: unknown): void {
  if (!owner || typeof id !== 'string') return;
  let ids = known.get(owner);
  if (!ids) {
    ids = new Set();
    known.set(owner, ids);
  }
  ids.add(id);
  // The first entry is the oldest.
  if (ids.size > MAX_IDS) for (const oldest of ids) return void ids.delete(oldest);
}

/** Notes the elicitation ids in an error -32042. */
export function noteRefusal(owner: object | undefined, error: unknown): void {
  if (!(error instanceof ProtocolError) || error.code !== ErrorCode.LegacyUrlElicitationRequired) return;
  const list = isJsonObject(error.data) ? error.data['elicitations'] : undefined;
  for (const each of Array.isArray(list) ? list : []) {
    if (isJsonObject(each)) noteElicitation(owner, each['elicitationId']);
  }
}

export function knowsElicitation(owner: object, id: string): boolean {
  return known.get(owner)?.has(id) ?? false;
}

const MAX_IDS = 1000;
