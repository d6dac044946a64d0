import { LazyAbort } from '../async/abort.js';
import type { Clock } from '../async/clock.js';
import type { EraVerdict } from '../era/client/era-verdict.js';
import type { TenantCaller } from '../era/client/tenant-caller.js';
import { IsthmusError, ProtocolError } from '../errors.js';
import type { CallerIdentity, Change, OutgoingCall, ServerFacts } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { LoggingLevel } from '../wire/model.js';
import type { ConnectionSource } from './connection-source.js';
import {
  clientClosed,
  couldNotOpen,
  mayHaveRun,
  mayRepeat,
  type WaitingForConnection,
  waitForConnection,
} from './retry.js';
import { type ChangeQueue, ClientSubscriptions, type Wanted } from './subscriptions.js';

export interface ReconnectingCallerSettings {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Opens another connection when one is lost and the next call, or an open `listen`, needs it. */
  readonly reconnect: boolean;
  /** Called when a lost connection was replaced. */
  readonly onReopened: () => void;
}

/**
 * Makes calls over one connection after the other. When a connection is lost, the next call opens another one, and
 * subscriptions and the log level are restored (LIFE-005, LIFE-007).
 */
export class ReconnectingCaller {
  /** Time for one call, unless the call sets its own. */
  readonly timeoutMs: number;
  readonly closed: Promise<void>;
  readonly #source: ConnectionSource;
  readonly #settings: ReconnectingCallerSettings;
  #resolveClosed!: () => void;
  readonly #subscriptions: ClientSubscriptions;
  /** The newest connection, open or not. */
  #latest: TenantCaller | undefined;
  /** The connection for calls; a promise while it is being opened. */
  #current: TenantCaller | Promise<TenantCaller> | undefined;
  #logLevel: LoggingLevel | undefined;
  #isClosed = false;
  readonly #over = new LazyAbort();
  /** Why the last connection ended, if no other will be opened. */
  #lost: IsthmusError | undefined;

  constructor(source: ConnectionSource, settings: ReconnectingCallerSettings) {
    this.#source = source;
    this.#settings = settings;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    const { clock, timeoutMs, reconnect, onReopened } = settings;
    this.timeoutMs = timeoutMs;
    // Not spread: V8 gives an object that extends a spread one a hidden class of its own, 300 bytes for each caller.
    this.#subscriptions = new ClientSubscriptions({
      clock,
      timeoutMs,
      reconnect,
      onReopened,
      over: this.#over,
      isCurrent: (connection) => this.#current === connection,
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Of the newest connection. Throws before the first one. */
  get verdict(): EraVerdict {
    return this.#newest.verdict;
  }

  get server(): ServerFacts {
    return this.#newest.server;
  }

  /** Opens the first connection, unless the signal aborts. Call it once, or not at all: then the first call opens it. */
  async open(signal?: AbortSignal): Promise<void> {
    const connection = await this.#source.open({
      remembered: undefined,
      signal: signal ?? this.#over,
    });
    this.#latest = connection;
    this.#current = connection;
    this.#watch(connection);
  }

  get isListening(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** Opens a connection if there is none, and waits for it. */
  async connected(waiting?: WaitingForConnection): Promise<TenantCaller> {
    return this.#opened(waiting);
  }

  /** The open connection, if there is one. */
  get ready(): TenantCaller | undefined {
    const current = this.#current;
    if (!current || current instanceof Promise || this.#isClosed) return undefined;
    return this.#source.pick ? this.#pick(current) : current;
  }

  now(): number {
    return this.#settings.clock.now();
  }

  get clock(): Clock {
    return this.#settings.clock;
  }

  /** Makes a call, and opens a connection for it where there is none. */
  call(call: OutgoingCall): Promise<JsonObject> {
    return this.#callLater(call, 0);
  }

  /** Repeats a call that failed on this connection where that is allowed, or throws the error. */
  again(error: unknown, call: OutgoingCall, connection: TenantCaller, began: number): Promise<JsonObject> {
    return this.#again(error, call, connection, 0, began);
  }

  async listen(wanted: Wanted, as?: CallerIdentity): Promise<ChangeQueue> {
    const subscription = this.#subscriptions.create(wanted, as);
    try {
      await this.#onConnection(async (connection) => {
        // Added before the server has agreed: if the connection is lost in between, it is reopened for this subscription.
        this.#subscriptions.add(subscription);
        await this.#subscriptions.subscribe(connection, subscription);
      });
    } catch (error) {
      this.#subscriptions.delete(subscription);
      throw error;
    }
    return subscription.queue;
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    await this.#onConnection((connection) => connection.setLogLevel(level, this.timeoutMs));
    this.#logLevel = level;
  }

  /** Informs a connected legacy server. A later one asks for the roots itself. */
  rootsChanged(): void {
    this.ready?.rootsChanged();
  }

  /** Reports a change of the server that it did not announce itself. */
  announce(change: Change): void {
    this.#subscriptions.announce(change);
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#over.abort(clientClosed());
      this.#subscriptions.end();
    }
    const current = await Promise.resolve(this.#current).catch(() => undefined);
    await (current ?? this.#latest)?.close();
    this.#resolveClosed();
  }

  get #newest(): TenantCaller {
    if (this.#latest) return this.#latest;
    const message = `${this.#source.label} is not connected yet; the first call connects`;
    throw new IsthmusError('CONNECTION_CLOSED', message, { sent: 'no' });
  }

  /** The open connection, or a new one. Waiting for it counts towards the timeout of the call. */
  async #opened({ signal, timeoutMs = this.timeoutMs }: WaitingForConnection = {}): Promise<TenantCaller> {
    if (this.#isClosed) throw this.#lost?.with({ sent: 'no' }) ?? clientClosed();
    const current = this.#current;
    if (current && !(current instanceof Promise)) return current;
    const leave = this.#source.waitForConnection?.();
    try {
      const opening = current ?? this.#reopen();
      this.#current ??= opening;
      return await waitForConnection(opening, {
        source: this.#source,
        clock: this.#settings.clock,
        signal,
        timeoutMs,
      });
    } finally {
      leave?.();
    }
  }

  /** The caller for the next call. A process of a pool gets the log level before its first call. */
  #pick(current: TenantCaller): TenantCaller {
    const picked = this.#source.pick?.() ?? current;
    const level = this.#logLevel;
    // A refusal must not fail the call.
    if (level !== undefined && picked.logLevel !== level && picked !== current)
      picked.setLogLevel(level, this.timeoutMs).catch(() => {});
    return picked;
  }

  /** Runs an action. If its message was certainly not sent, repeats it on the next connection. */
  async #onConnection(action: (connection: TenantCaller) => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const connection = await this.#opened();
      try {
        return await action(connection);
      } catch (error) {
        const again = this.#settings.reconnect && mayRepeat(error, () => false, tries);
        if (this.#isClosed || !again) throw error;
        this.#dropUnusable(connection);
      }
    }
  }

  async #callLater(call: OutgoingCall, tries: number): Promise<JsonObject> {
    const began = this.#settings.clock.now();
    const connection = this.#pick(await this.#opened(call));
    return this.#callOn(connection, this.#withTimeLeft(call, began), tries);
  }

  #callOn(connection: TenantCaller, call: OutgoingCall, tries: number): Promise<JsonObject> {
    const began = this.#settings.clock.now();
    return connection.call(call).catch((error) => this.#again(error, call, connection, tries, began));
  }

  /** Subtracts the time that has passed from the timeout of a call. */
  #withTimeLeft(call: OutgoingCall, began: number): OutgoingCall {
    const passed = this.#settings.clock.now() - began;
    if (!(passed > 0)) return call;
    const timeoutMs = Math.max(1, call.timeoutMs - passed);
    return { ...call, timeoutMs, maxTimeoutMs: Math.max(timeoutMs, call.maxTimeoutMs - passed) };
  }

  /** Repeats a call on a new connection if it was certainly not sent, or may run twice. */
  #again(
    thrown: unknown,
    call: OutgoingCall,
    connection: TenantCaller,
    tries: number,
    began: number,
  ): Promise<JsonObject> {
    const error = connection.attribute(thrown);
    const safe = () => call.retry === 'safe' || (this.#source.isSafe?.(call) ?? false);
    if (this.#isClosed || !this.#settings.reconnect || !mayRepeat(error, safe, tries)) throw error;
    if (call.signal?.aborted) throw error;
    this.#dropUnusable(connection);
    const again = this.#callLater(this.#withTimeLeft(call, began), tries + 1);
    return error.sent === 'no' ? again : again.catch((later) => Promise.reject(mayHaveRun(later, error)));
  }

  /** A request failed on the connection. Over HTTP the connection itself may still be usable. */
  #dropUnusable(connection: TenantCaller): void {
    if (this.#current === connection && !connection.isUsable) this.#current = undefined;
  }

  #watch(connection: TenantCaller): void {
    void connection.ended.then((error) => {
      if (this.#current === connection) this.#current = undefined;
      if (this.#isClosed) return;
      if (!this.#settings.reconnect) {
        this.#isClosed = true;
        this.#lost = error;
        this.#subscriptions.end(error);
        this.#resolveClosed();
      } else if (this.#source.reopensAfterEnd?.(error) ?? true) this.#keepListening();
      else this.#subscriptions.end(error);
    });
  }

  /** Reopens the connection for open subscriptions, without waiting for a call. */
  #keepListening(): void {
    if (this.#isClosed || this.#subscriptions.size === 0) return;
    this.#current ??= this.#reopen();
    Promise.resolve(this.#current).catch((failure: unknown) => {
      if (this.#source.reopensAfterFailure?.()) this.#keepListening();
      else this.#subscriptions.end(failure);
    });
  }

  async #reopen(): Promise<TenantCaller> {
    const before = this.#latest;
    if (before && !this.#settings.reconnect) throw (await before.ended).with({ sent: 'no' });
    let connection: TenantCaller | undefined;
    try {
      connection = await this.#source.open({ remembered: before?.verdict.era, signal: this.#over });
      if (this.#isClosed) throw clientClosed();
      this.#latest = connection;
      if (before) this.#settings.onReopened();
      await this.#restore(connection);
      this.#current = connection;
      this.#watch(connection);
      return connection;
    } catch (error) {
      this.#current = undefined;
      await connection?.close();
      throw this.#isClosed ? clientClosed() : couldNotOpen(this.#source.label, error);
    }
  }

  /** Restores log level and subscriptions. A refusal of the server must not fail the connection or a waiting call. */
  async #restore(connection: TenantCaller): Promise<void> {
    if (this.#logLevel !== undefined) {
      await connection.setLogLevel(this.#logLevel, this.timeoutMs).catch((error) => {
        if (!(error instanceof ProtocolError)) throw error;
      });
    }
    await this.#subscriptions.restore(connection);
  }
}
