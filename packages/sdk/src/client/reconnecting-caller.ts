import { type Cancellation, sharedAbort } from '../async/abort.js';
import type { Clock } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import { IsthmusError, messageOf, ProtocolError } from '../errors.js';
import type { CallerIdentity, Change, OutgoingCall, ServerFacts } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { LoggingLevel } from '../wire/model.js';
import type { ActiveConnection, ConnectionSource } from './active-connection.js';
import type { ClientSession } from './client.js';
import type { EraVerdict } from './negotiation/negotiate.js';
import { mayGoAgain } from './retry.js';
import { type Changes, SessionListens, type Wanted } from './subscriptions.js';

export interface ReconnectingCallerSettings {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Opens another link when one is lost and the next call (or an open `listen`) needs it. */
  readonly reconnect: boolean;
  /** Told when a lost link was replaced. */
  readonly onReopened: () => void;
}

/**
 * The life of a client beyond one connection: when a connection is lost, the next call opens another one, and
 * what the client had set up (subscriptions, log level) is set up again (LIFE-005, LIFE-007).
 */
export class ReconnectingCaller implements ClientSession {
  readonly timeoutMs: number;
  readonly closed: Promise<void>;
  readonly #links: ConnectionSource;
  readonly #settings: ReconnectingCallerSettings;
  readonly #closed = createDeferred<void>();
  readonly #listens: SessionListens;
  /** The newest link, whether or not it is still there. */
  #link: ActiveConnection | undefined;
  /** The link that calls go to; a promise while it is being opened. */
  #current: ActiveConnection | Promise<ActiveConnection> | undefined;
  #logLevel: LoggingLevel | undefined;
  #isClosed = false;
  readonly #over = sharedAbort();
  /** Why the last connection ended, when no other will be opened. */
  #lost: IsthmusError | undefined;

  constructor(links: ConnectionSource, settings: ReconnectingCallerSettings) {
    this.#links = links;
    this.#settings = settings;
    this.timeoutMs = settings.timeoutMs;
    this.closed = this.#closed.promise;
    this.#listens = new SessionListens({
      ...settings,
      over: this.#over.signal,
      isCurrent: (link) => this.#current === link,
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get verdict(): EraVerdict {
    return this.#newest.verdict;
  }

  get server(): ServerFacts {
    return this.#newest.caller.server;
  }

  /** Opens the first link, with a signal that calls it off; otherwise the first call does. Once. */
  async open(signal?: AbortSignal): Promise<void> {
    const link = await this.#links.open({ remembered: undefined, signal: signal ?? this.#over.signal });
    this.#link = link;
    this.#current = link;
    this.#watch(link);
  }

  get isListening(): boolean {
    return this.#listens.size > 0;
  }

  /** Opens a link where there is none, and waits for it. */
  async connected(waiting?: WaitingForConnection): Promise<ActiveConnection> {
    return this.#opened(waiting);
  }

  get ready(): ActiveConnection | undefined {
    const current = this.#current;
    return current instanceof Promise || this.#isClosed ? undefined : current;
  }

  now(): number {
    return this.#settings.clock.now();
  }

  call(call: OutgoingCall): Promise<JsonObject> {
    return this.#callLater(call, 0);
  }

  again(error: unknown, call: OutgoingCall, link: ActiveConnection, began: number): Promise<JsonObject> {
    return this.#again(error, call, link, 0, began);
  }

  async listen(wanted: Wanted, as?: CallerIdentity): Promise<Changes> {
    const subscription = this.#listens.create(wanted, as);
    try {
      await this.#onLink(async (link) => {
        // Before the server has agreed: a connection that is lost in between is opened again for it.
        this.#listens.add(subscription);
        await this.#listens.subscribe(link, subscription);
      });
    } catch (error) {
      this.#listens.delete(subscription);
      throw error;
    }
    return subscription.queue;
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    await this.#onLink(({ caller }) => caller.setLogLevel(level, this.timeoutMs));
    this.#logLevel = level;
  }

  /** Tells a legacy server, while it is connected; a later one asks anyway. */
  rootsChanged(): void {
    this.ready?.caller.rootsChanged?.();
  }

  async #wait(
    opening: Promise<ActiveConnection>,
    signal: Cancellation | undefined,
    timeoutMs: number,
  ): Promise<ActiveConnection> {
    const { clock } = this.#settings;
    const given = createDeferred<never>();
    const { label } = this.#links;
    const onAbort = () =>
      given.reject(
        new IsthmusError('CANCELLED', 'The call was called off', { cause: signal?.reason, sent: 'no' }),
      );
    const callOff = clock.after(timeoutMs, () => {
      const { reason, stderrTail, generation } = this.#links.whyNotYet() ?? {};
      const message = `${label} was not connected within ${timeoutMs} ms${reason === undefined ? '' : `; the last time: ${reason}`}`;
      given.reject(new IsthmusError('TIMED_OUT', message, { sent: 'no', stderrTail, generation }));
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

  /** Something changed on the server that it did not tell of itself. */
  announce(change: Change): void {
    this.#listens.announce(change);
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#over.abort();
      this.#listens.end();
    }
    const current = await Promise.resolve(this.#current).catch(() => undefined);
    await (current ?? this.#link)?.close();
    this.#closed.resolve();
  }

  get #newest(): ActiveConnection {
    if (this.#link) return this.#link;
    const message = `${this.#links.label} has not been connected to yet; the first call does it`;
    throw new IsthmusError('CONNECTION_CLOSED', message, { sent: 'no' });
  }

  /** The link to use; at once while there is one. Opening another one counts against the call's own time. */
  async #opened({
    signal,
    timeoutMs = this.timeoutMs,
  }: WaitingForConnection = {}): Promise<ActiveConnection> {
    if (this.#isClosed) throw this.#lost?.with({ sent: 'no' }) ?? isClosed();
    const current = this.#current;
    if (current && !(current instanceof Promise)) return current;
    const leave = this.#links.waitInLine();
    try {
      const opening = current ?? this.#reopen();
      this.#current ??= opening;
      return await this.#wait(opening, signal, timeoutMs);
    } finally {
      leave();
    }
  }

  /** Does something that leaves no trace when it did not leave; then it is done on the next link. */
  async #onLink(action: (link: ActiveConnection) => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const link = await this.#opened();
      try {
        return await action(link);
      } catch (error) {
        const again = this.#settings.reconnect && mayGoAgain(error, () => false, tries);
        if (this.#isClosed || !again) throw error;
        this.#giveUp(link);
      }
    }
  }

  async #callLater(call: OutgoingCall, tries: number): Promise<JsonObject> {
    const began = this.#settings.clock.now();
    const link = await this.#opened(call);
    return this.#callOn(link, this.#sooner(call, began), tries);
  }

  #callOn(link: ActiveConnection, call: OutgoingCall, tries: number): Promise<JsonObject> {
    const began = this.#settings.clock.now();
    return link.caller.call(call).catch((error) => this.#again(error, call, link, tries, began));
  }

  /** What has passed counts against the call's own time. */
  #sooner(call: OutgoingCall, began: number): OutgoingCall {
    const passed = this.#settings.clock.now() - began;
    if (!(passed > 0)) return call;
    const timeoutMs = Math.max(1, call.timeoutMs - passed);
    return { ...call, timeoutMs, maxTimeoutMs: Math.max(timeoutMs, call.maxTimeoutMs - passed) };
  }

  /** A call that certainly did not leave, or that may run twice, is made again on a fresh link. */
  #again(
    error: unknown,
    call: OutgoingCall,
    link: ActiveConnection,
    tries: number,
    began: number,
  ): Promise<JsonObject> {
    const safe = () => call.retry === 'safe' || this.#links.isSafe(call);
    if (this.#isClosed || !this.#settings.reconnect || !mayGoAgain(error, safe, tries)) throw error;
    if (call.signal?.aborted) throw error;
    this.#giveUp(link);
    const again = this.#callLater(this.#sooner(call, began), tries + 1);
    return error.sent === 'no' ? again : again.catch((later) => Promise.reject(mayHaveRun(later, error)));
  }

  /** A request failed there. Where each has a fate of its own, the link may be as good as before. */
  #giveUp(link: ActiveConnection): void {
    if (this.#current === link && !link.isUsable) this.#current = undefined;
  }

  #watch(link: ActiveConnection): void {
    void link.ended.then((error) => {
      if (this.#current === link) this.#current = undefined;
      if (this.#isClosed) return;
      if (!this.#settings.reconnect) {
        this.#isClosed = true;
        this.#lost = error;
        this.#listens.end(error);
        this.#closed.resolve();
      } else if (this.#links.survivesEnd(error)) this.#keepListening();
      else this.#listens.end(error);
    });
  }

  /** Somebody is waiting for news: do not wait for a call. */
  #keepListening(): void {
    if (this.#isClosed || this.#listens.size === 0) return;
    this.#current ??= this.#reopen();
    Promise.resolve(this.#current).catch((failure: unknown) => {
      if (this.#links.survivesFailure()) this.#keepListening();
      else this.#listens.end(failure);
    });
  }

  async #reopen(): Promise<ActiveConnection> {
    const before = this.#link;
    if (before && !this.#settings.reconnect) throw (await before.ended).with({ sent: 'no' });
    let link: ActiveConnection | undefined;
    try {
      link = await this.#links.open({ remembered: before?.verdict.era, signal: this.#over.signal });
      if (this.#isClosed) throw isClosed();
      this.#link = link;
      if (before) this.#settings.onReopened();
      await this.#restore(link);
      this.#current = link;
      this.#watch(link);
      return link;
    } catch (error) {
      this.#current = undefined;
      await link?.close();
      throw this.#isClosed ? isClosed() : couldNotOpen(this.#links.label, error);
    }
  }

  /** What the fresh server refuses is lost by itself; it must not cost the connection, nor the call that waits for it. */
  async #restore(link: ActiveConnection): Promise<void> {
    if (this.#logLevel !== undefined) {
      await link.caller.setLogLevel(this.#logLevel, this.timeoutMs).catch((error) => {
        if (!(error instanceof ProtocolError)) throw error;
      });
    }
    await this.#listens.restore(link);
  }
}

/** What a call that has to wait for a connection brings along. */
export interface WaitingForConnection {
  readonly signal?: Cancellation | undefined;
  readonly timeoutMs?: number | undefined;
}

function isClosed(): IsthmusError {
  return new IsthmusError('CONNECTION_CLOSED', 'The client is closed', { sent: 'no' });
}

/** Whatever became of the second attempt: the first one may have run. */
function mayHaveRun(later: unknown, first: IsthmusError): unknown {
  if (!(later instanceof IsthmusError) || later.sent !== 'no') return later;
  return later.with({ sent: 'maybe', generation: later.generation ?? first.generation });
}

/** The handshake may have left; the call that waited for it did not. */
function couldNotOpen(label: string, error: unknown): IsthmusError {
  if (error instanceof IsthmusError) return error.with({ sent: 'no' });
  const message = `The connection to ${label} could not be opened again: ${messageOf(error)}`;
  return new IsthmusError('CONNECTION_CLOSED', message, { cause: error, sent: 'no' });
}
