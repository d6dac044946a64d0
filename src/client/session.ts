import { createDeferred } from '../async/deferred.js';
import { IsthmusError, messageOf, ProtocolError } from '../errors.js';
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
  /** Why the last connection ended, when no other will be opened. */
  #lost: IsthmusError | undefined;

  constructor(connector: Connector, settings: ConnectSettings, link: Link) {
    this.#connector = connector;
    this.#settings = settings;
    this.timeoutMs = settings.timeoutMs;
    this.closed = this.#closed.promise;
    this.#link = link;
    this.#current = link;
    this.#watch(link);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The newest connection, whether or not it is still there. */
  get link(): Link {
    return this.#link;
  }

  /** Who to call, while there is a connection. */
  get ready(): Caller | undefined {
    const current = this.#current;
    return current === undefined || current instanceof Promise || this.#isClosed ? undefined : current.caller;
  }

  /** Who to call; at once while there is a connection. Opening another one counts against the call's own time. */
  async caller({ signal, timeoutMs = this.timeoutMs }: CallerOptions = {}): Promise<Caller> {
    if (this.#isClosed) throw notSent(this.#lost) ?? isClosed();
    this.#current ??= this.#reopen();
    if (!(this.#current instanceof Promise)) return this.#current.caller;
    return (await this.#wait(this.#current, signal, timeoutMs)).caller;
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
    const caller = await this.caller();
    // Before the server has agreed: a connection that is lost in between is opened again for it.
    this.#listens.add(subscription);
    try {
      await this.#subscribe(caller, subscription);
    } catch (error) {
      this.#listens.delete(subscription);
      throw error;
    }
    return subscription.queue;
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    const caller = await this.caller();
    await caller.setLogLevel(level, this.timeoutMs);
    this.#logLevel = level;
  }

  async #wait(opening: Promise<Link>, signal: AbortSignal | undefined, timeoutMs: number): Promise<Link> {
    const { clock } = this.#settings;
    const given = createDeferred<never>();
    const label = this.#connector.label;
    const onAbort = () =>
      given.reject(
        new IsthmusError('CANCELLED', 'The call was called off', { cause: signal?.reason, sent: 'no' }),
      );
    const callOff = clock.after(timeoutMs, () => {
      given.reject(
        new IsthmusError('TIMED_OUT', `${label} was not connected again within ${timeoutMs} ms`, {
          sent: 'no',
        }),
      );
    });
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([opening, given.promise]);
    } finally {
      callOff();
      signal?.removeEventListener('abort', onAbort);
    }
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
        this.#lost = error;
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
    if (!this.#settings.reconnect) throw notSent(await this.#link.line.ended);
    let link: Link | undefined;
    try {
      const { era } = this.#link.verdict;
      link = await negotiate(this.#connector, this.#settings, { remembered: era, signal: this.#over.signal });
      this.#link = link;
      // News may have been missed, and it may not even be the same server.
      this.#settings.onReopened();
      await this.#restore(link.caller);
      this.#current = link;
      this.#watch(link);
      return link;
    } catch (error) {
      this.#current = undefined;
      await link?.line.close();
      throw this.#isClosed ? isClosed() : couldNotReopen(this.#connector.label, error);
    }
  }

  /** What the fresh server refuses is lost by itself; it must not cost the connection, nor the call that waits for it. */
  async #restore(caller: Caller): Promise<void> {
    const refused = (error: unknown) => {
      if (!(error instanceof ProtocolError)) throw error;
      return error;
    };
    if (this.#logLevel !== undefined) await caller.setLogLevel(this.#logLevel, this.timeoutMs).catch(refused);
    for (const subscription of this.#listens) {
      const error = await this.#subscribe(caller, subscription).catch(refused);
      if (!error) continue;
      this.#listens.delete(subscription);
      subscription.queue.end(error);
    }
  }

  async #subscribe(caller: Caller, subscription: Subscription): Promise<void> {
    const { wanted, queue } = subscription;
    const open = await caller.listen(toFilter(wanted), (change) => queue.push(change), this.timeoutMs);
    // The reader may have left meanwhile.
    if (!this.#listens.has(subscription)) return open.stop();
    queue.honoured = open.honoured;
    subscription.stop = open.stop;
    void open.ended.then(({ error }) => {
      // A lost connection is followed by a reconnect; whatever else ends it is the server's last word.
      const isLoss = error instanceof IsthmusError && !this.#isClosed && this.#settings.reconnect;
      if (isLoss || subscription.stop !== open.stop) return;
      this.#listens.delete(subscription);
      queue.end(error);
    });
  }
}

/** What a call that has to wait for a connection brings along. */
export interface CallerOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

function isClosed(): IsthmusError {
  return new IsthmusError('CONNECTION_CLOSED', 'The client is closed', { sent: 'no' });
}

/** The handshake may have left; the call that waited for it did not. */
function couldNotReopen(label: string, error: unknown): IsthmusError {
  if (error instanceof IsthmusError) return notSent(error)!;
  const message = `The connection to ${label} could not be opened again: ${messageOf(error)}`;
  return new IsthmusError('CONNECTION_CLOSED', message, { cause: error, sent: 'no' });
}

function notSent(error: IsthmusError | undefined): IsthmusError | undefined {
  return error && new IsthmusError(error.code, error.message, { cause: error, sent: 'no' });
}

interface Subscription {
  readonly wanted: Wanted;
  readonly queue: ChangeQueue;
  stop: () => void;
}
