import type { Clock } from '../async/clock.js';
import { IsthmusError, ProtocolError } from '../errors.js';
import type { CallerIdentity, Change } from '../exchange/call.js';
import type { SubscriptionFilter } from '../wire/model.js';
import type { ActiveConnection } from './active-connection.js';

export interface ListensContext {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly reconnect: boolean;
  /** Aborted when the session is closed. */
  readonly over: AbortSignal;
  /** Whether calls go this way now. */
  isCurrent(link: ActiveConnection): boolean;
  /** News may have been missed. */
  onReopened(): void;
}

/** What a client listens to, for as long as it does: on one link after the other. */
export class SessionListens {
  readonly #context: ListensContext;
  readonly #open = new Set<Subscription>();

  constructor(context: ListensContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Not yet told to any server. */
  create(wanted: Wanted, as?: CallerIdentity): Subscription {
    const subscription: Subscription = {
      wanted,
      as,
      queue: new ChangeQueue(() => {
        this.#open.delete(subscription);
        subscription.stop();
      }),
      stop: () => {},
    };
    return subscription;
  }

  add(subscription: Subscription): void {
    this.#open.add(subscription);
  }

  delete(subscription: Subscription): void {
    this.#open.delete(subscription);
  }

  /** Something changed on the server that it did not tell of itself. */
  announce(change: Change): void {
    for (const { wanted, queue } of this.#open) {
      if (change.kind !== 'resource' && wanted[change.kind]) queue.push(change);
    }
  }

  /** No more will come, in good order or because of an error. */
  end(error?: unknown): void {
    for (const { queue } of this.#open) queue.end(error);
    this.#open.clear();
  }

  /** Opens all of them on a fresh link; what the server refuses now ends by itself. */
  async restore(link: ActiveConnection): Promise<void> {
    for (const subscription of this.#open) {
      try {
        await this.subscribe(link, subscription);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        this.#end(subscription, error);
      }
    }
  }

  async subscribe(link: ActiveConnection, subscription: Subscription): Promise<void> {
    const { timeoutMs, reconnect, over } = this.#context;
    const { wanted, as, queue } = subscription;
    const open = await link.caller.listen(toFilter(wanted), (change) => queue.push(change), timeoutMs, as);
    // The reader may have left meanwhile.
    if (!this.#open.has(subscription)) return open.stop();
    queue.honoured = open.honoured;
    subscription.stop = open.stop;
    void open.ended.then(({ error }) => {
      // A lost connection is followed by a reconnect; whatever else ends it is the server's last word.
      const isLoss = error instanceof IsthmusError && !over.aborted && reconnect;
      if (subscription.stop !== open.stop || !this.#open.has(subscription)) return;
      if (!isLoss) this.#end(subscription, error);
      else if (link.isUsable) this.#subscribeAgain(link, subscription, 0);
    });
  }

  /** The stream of one subscription was lost, and the connection was not (over HTTP each has its own). */
  #subscribeAgain(link: ActiveConnection, subscription: Subscription, tries: number): void {
    const { clock, over, isCurrent, onReopened } = this.#context;
    const delay = Math.min(RESUBSCRIBE_MS * 2 ** tries, MAX_RESUBSCRIBE_MS);
    const callOff = clock.after(delay, () => {
      over.removeEventListener('abort', callOff);
      // A connection that was lost meanwhile took all its subscriptions along.
      if (over.aborted || !isCurrent(link) || !this.#open.has(subscription)) return;
      this.subscribe(link, subscription).then(onReopened, (error) => {
        if (mayComeBack(error)) this.#subscribeAgain(link, subscription, tries + 1);
        else this.#end(subscription, error);
      });
    });
    subscription.stop = callOff;
    over.addEventListener('abort', callOff, { once: true });
  }

  #end(subscription: Subscription, error: unknown): void {
    this.#open.delete(subscription);
    subscription.queue.end(error);
  }
}

export interface Subscription {
  readonly wanted: Wanted;
  /** Who it is for, where that is somebody else. */
  readonly as: CallerIdentity | undefined;
  readonly queue: ChangeQueue;
  stop: () => void;
}

/** How long after a subscription was lost by itself it is opened again; twice as long each time that this fails. */
const RESUBSCRIBE_MS = 500;
const MAX_RESUBSCRIBE_MS = 30_000;

/** A network or a server that is away, for now. */
function mayComeBack(error: unknown): boolean {
  if (!(error instanceof IsthmusError)) return false;
  const isAway = error.code === 'HTTP_STATUS' && (error.status === 429 || (error.status ?? 0) >= 500);
  return isAway || AWAY.has(error.code);
}

const AWAY: ReadonlySet<string> = new Set(['CONNECTION_CLOSED', 'ADDRESS_UNAVAILABLE', 'TIMED_OUT']);

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
