import { createDeferred } from '../async/deferred.js';
import { IsthmusError } from '../errors.js';
import type { Caller } from '../exchange/call.js';
import type { Connector } from '../exchange/connection.js';
import type { LoggingLevel } from '../wire/model.js';
import { ChangeQueue, type Changes, toFilter, type Wanted } from './changes.js';
import { type Link, negotiate } from './negotiate.js';
import type { ConnectSettings } from './options.js';

/**
 * The life of a client beyond one connection: when a connection is lost, the next call opens another one, and
 * what the client had set up (subscriptions, log level) is set up again (LIFE-005, LIFE-007).
 */
export class Session {
  readonly timeoutMs: number;
  readonly closed: Promise<void>;
  readonly #connector: Connector;
  readonly #settings: ConnectSettings;
  readonly #closed = createDeferred<void>();
  readonly #listens = new Set<Subscription>();
  #link: Link;
  /** The link that calls go to; a promise while it is being opened. */
  #current: Link | Promise<Link> | undefined;
  #logLevel: LoggingLevel | undefined;
  #isClosed = false;
  readonly #over = new AbortController();

  constructor(connector: Connector, settings: ConnectSettings, link: Link) {
    this.#connector = connector;
    this.#settings = settings;
    this.timeoutMs = settings.timeoutMs;
    this.closed = this.#closed.promise;
    this.#link = link;
    this.#current = link;
    this.#watch(link);
  }

  /** The newest connection, whether or not it is still there. */
  get link(): Link {
    return this.#link;
  }

  async caller(): Promise<Caller> {
    if (this.#isClosed) throw new IsthmusError('CONNECTION_CLOSED', 'The client is closed', { sent: 'no' });
    this.#current ??= this.#reopen();
    const link = this.#current instanceof Promise ? await this.#current : this.#current;
    return link.caller;
  }

  async listen(wanted: Wanted): Promise<Changes> {
    const subscription: Subscription = {
      wanted,
      queue: new ChangeQueue(() => {
        this.#listens.delete(subscription);
        subscription.stop();
      }),
      stop: () => {},
    };
    await this.#subscribe(await this.caller(), subscription);
    this.#listens.add(subscription);
    return subscription.queue;
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    const caller = await this.caller();
    await caller.setLogLevel(level, this.timeoutMs);
    this.#logLevel = level;
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#over.abort();
      for (const { queue } of this.#listens) queue.end();
      this.#listens.clear();
    }
    const current = await Promise.resolve(this.#current).catch(() => undefined);
    await (current ?? this.#link).line.close();
    this.#closed.resolve();
  }

  #watch(link: Link): void {
    void link.line.ended.then((error) => {
      if (this.#link === link && this.#current === link) this.#current = undefined;
      if (this.#isClosed) return;
      if (!this.#settings.reconnect) {
        this.#isClosed = true;
        for (const { queue } of this.#listens) queue.end(error);
        this.#listens.clear();
        this.#closed.resolve();
      } else if (this.#listens.size > 0) {
        // Somebody is waiting for news: do not wait for a call.
        this.#current ??= this.#reopen();
        Promise.resolve(this.#current).catch((failure: unknown) => {
          for (const { queue } of this.#listens) queue.end(failure);
          this.#listens.clear();
        });
      }
    });
  }

  async #reopen(): Promise<Link> {
    if (!this.#settings.reconnect) throw await this.#link.line.ended;
    try {
      const { era } = this.#link.verdict;
      const link = await negotiate(this.#connector, this.#settings, {
        remembered: era,
        signal: this.#over.signal,
      });
      if (this.#isClosed) {
        await link.line.close();
        throw new IsthmusError('CONNECTION_CLOSED', 'The client is closed', { sent: 'no' });
      }
      this.#link = link;
      if (this.#logLevel !== undefined) await link.caller.setLogLevel(this.#logLevel, this.timeoutMs);
      for (const subscription of this.#listens) await this.#subscribe(link.caller, subscription);
      this.#current = link;
      this.#watch(link);
      return link;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  async #subscribe(caller: Caller, subscription: Subscription): Promise<void> {
    const { wanted, queue } = subscription;
    const open = await caller.listen(toFilter(wanted), (change) => queue.push(change));
    queue.honoured = open.honoured;
    subscription.stop = open.stop;
    void open.ended.then((inOrder) => {
      // An end in good order is the server's last word; a loss is followed by a reconnect.
      if (inOrder && subscription.stop === open.stop) {
        this.#listens.delete(subscription);
        queue.end();
      }
    });
  }
}

interface Subscription {
  readonly wanted: Wanted;
  readonly queue: ChangeQueue;
  stop: () => void;
}
