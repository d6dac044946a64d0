import type { Cancellation } from '../async/abort.js';
import type { Clock } from '../async/clock.js';
import type { TenantCaller } from '../era/client/tenant-caller.js';
import { WaitingChanges } from '../era/subscriptions.js';
import { IsthmusError, ProtocolError } from '../errors.js';
import type { CallerIdentity, Change, ListenEnd } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { SubscriptionFilter } from '../wire/model.js';

export interface SubscriptionsContext {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly reconnect: boolean;
  /** Aborted when the client is closed. */
  readonly over: Cancellation;
  /** Whether calls are made on this connection now. */
  isCurrent(connection: TenantCaller): boolean;
  /** Called when changes may have been missed. */
  onReopened(): void;
}

/** The open subscriptions of a client, over one connection after the other. */
export class ClientSubscriptions {
  readonly #context: SubscriptionsContext;
  readonly #open = new Set<Subscription>();

  constructor(context: SubscriptionsContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Creates a subscription. No server knows of it yet. */
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

  /** Reports a change of the server that it did not announce itself. */
  announce(change: Change): void {
    for (const { wanted, queue } of this.#open) {
      if (change.kind === 'resource' || change.kind === 'foreign') continue;
      if (wanted[change.kind]) queue.push(change);
    }
  }

  /** Ends all of them, with or without an error. */
  end(error?: unknown): void {
    for (const { queue } of this.#open) queue.end(error);
    this.#open.clear();
  }

  /** Opens all of them on a new connection. A subscription that the server refuses ends. */
  async restore(connection: TenantCaller): Promise<void> {
    for (const subscription of this.#open) {
      try {
        await this.subscribe(connection, subscription);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        this.#end(subscription, error);
      }
    }
  }

  async subscribe(connection: TenantCaller, subscription: Subscription): Promise<void> {
    const { timeoutMs, reconnect, over } = this.#context;
    const { wanted, as, queue } = subscription;
    const open = await connection.listen(toFilter(wanted), (change) => queue.push(change), timeoutMs, as);
    // The reader may have closed it in the meantime.
    if (!this.#open.has(subscription)) return open.stop();
    queue.honoured = open.honoured;
    subscription.stop = open.stop;
    void open.ended.then(({ error }) => {
      // After a lost connection there is a reconnect. Any other end is final.
      const isLoss = error instanceof IsthmusError && !over.aborted && reconnect;
      if (subscription.stop !== open.stop || !this.#open.has(subscription)) return;
      if (!isLoss) this.#end(subscription, error);
      else if (connection.isUsable) this.#subscribeAgain(connection, subscription, 0);
    });
  }

  /** Reopens one subscription whose stream was lost. Over HTTP each has its own stream. */
  #subscribeAgain(connection: TenantCaller, subscription: Subscription, tries: number): void {
    const { clock, over, isCurrent, onReopened } = this.#context;
    const delay = Math.min(RESUBSCRIBE_MS * 2 ** tries, MAX_RESUBSCRIBE_MS);
    const cancelTimer = clock.after(delay, () => {
      over.removeEventListener('abort', cancelTimer);
      // If the connection was lost in the meantime, the reconnect restores all subscriptions.
      if (over.aborted || !isCurrent(connection) || !this.#open.has(subscription)) return;
      this.subscribe(connection, subscription).then(onReopened, (error) => {
        if (mayComeBack(error)) this.#subscribeAgain(connection, subscription, tries + 1);
        else this.#end(subscription, error);
      });
    });
    subscription.stop = cancelTimer;
    over.addEventListener('abort', cancelTimer, { once: true });
  }

  #end(subscription: Subscription, error: unknown): void {
    this.#open.delete(subscription);
    subscription.queue.end(error);
  }
}

export interface Subscription {
  readonly wanted: Wanted;
  /** The caller that it is for, where that is not this client. */
  readonly as: CallerIdentity | undefined;
  readonly queue: ChangeQueue;
  stop: () => void;
}

/** How long to wait before a lost subscription is reopened. Doubled with each failure. */
const RESUBSCRIBE_MS = 500;
const MAX_RESUBSCRIBE_MS = 30_000;

/** The network or the server may be available again later. */
function mayComeBack(error: unknown): boolean {
  if (!(error instanceof IsthmusError)) return false;
  const isAway = error.code === 'HTTP_STATUS' && (error.status === 429 || (error.status ?? 0) >= 500);
  return isAway || AWAY.has(error.code);
}

const AWAY: ReadonlySet<string> = new Set(['CONNECTION_CLOSED', 'ADDRESS_UNAVAILABLE', 'TIMED_OUT']);

/** Which changes a client wants to receive. */
export interface Wanted {
  readonly tools?: boolean;
  readonly prompts?: boolean;
  readonly resources?: boolean;
  /** Resources to watch, by URI. */
  readonly uris?: readonly string[];
  /** Members of the filter that extensions define. Modern servers only. */
  readonly others?: JsonObject;
}

/** Changes of a server, one at a time: `for await (const change of changes)`. */
export interface Changes extends AsyncIterable<Change>, AsyncDisposable {
  /** What the server has agreed to announce. Updated after a reconnect. */
  readonly honoured: SubscriptionFilter;
  close(): void;
}

/** Reads a queue for as long as it is open. */
export interface ChangeReader {
  changed(change: Change): void;
  ended(end: ListenEnd, changes: Changes): void;
}

export function toFilter(wanted: Wanted): SubscriptionFilter {
  return {
    ...wanted.others,
    ...(wanted.tools && { toolsListChanged: true }),
    ...(wanted.prompts && { promptsListChanged: true }),
    ...(wanted.resources && { resourcesListChanged: true }),
    ...(wanted.uris && wanted.uris.length > 0 && { resourceSubscriptions: [...wanted.uris] }),
  };
}

/** A queue of changes without repeats: a slow reader leaves at most one entry for each thing that changes. */
export class ChangeQueue implements Changes {
  honoured: SubscriptionFilter = {};
  readonly #onClose: () => void;
  /** Undefined while nothing is queued: most queues are empty most of the time. */
  #due: WaitingChanges | undefined;
  #wake: (() => void) | undefined;
  /** Set by `follow`. */
  #reader: ChangeReader | undefined;
  #isBusy = false;
  #ended: { readonly error?: unknown } | undefined;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  push(change: Change): void {
    if (this.#ended) return;
    this.#due ??= new WaitingChanges();
    this.#due.keep(change);
    this.#call();
  }

  /** Ends the queue. Queued changes are still delivered. */
  end(error?: unknown): void {
    this.#ended ??= error === undefined ? {} : { error };
    this.#call();
  }

  close(): void {
    if (this.#ended) return;
    this.end();
    this.#onClose();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Change, void, undefined> {
    try {
      for (;;) {
        for (let change = this.#take(); change; change = this.#take()) yield change;
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

  /**
   * Hands each change to the reader, in a turn of its own, so that a response that came before it reaches the client
   * first. For readers that live long: an async iterator that waits takes more than a kilobyte.
   */
  follow(reader: ChangeReader): void {
    this.#reader = reader;
    this.#next(reader);
  }

  /** There is something for the reader. */
  #call(): void {
    if (!this.#reader) this.#wake?.();
    else if (!this.#isBusy) this.#next(this.#reader);
  }

  #next(reader: ChangeReader): void {
    const change = this.#take();
    this.#isBusy = change !== undefined;
    if (change) setImmediate(() => this.#deliver(reader, change));
    else if (this.#ended) this.#finish(reader, this.#ended.error);
  }

  #deliver(reader: ChangeReader, change: Change): void {
    try {
      reader.changed(change);
    } catch (error) {
      return this.#finish(reader, error);
    }
    this.#next(reader);
  }

  #finish(reader: ChangeReader, error: unknown): void {
    this.#reader = undefined;
    this.close();
    queueMicrotask(() => reader.ended({ error }, this));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #take(): Change | undefined {
    const change = this.#due?.take();
    if (!change) this.#due = undefined;
    return change;
  }
}
