import type { Cancellation } from '../../async/abort.js';
import { within } from '../../async/clock.js';
import { NegotiatedConnection } from '../../era/client/negotiated-connection.js';
import { IsthmusError, type LocalErrorCode, ProtocolError } from '../../errors.js';
import type { Era } from '../../exchange/call.js';
import type { Connection, Connector } from '../../exchange/connection.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { ConnectSettings } from '../options.js';

/** One attempt to connect to a server: the connection while its era is not known, the evidence, and the remembered era. */
export class ConnectionAttempt {
  /** What each step brought, in order. */
  readonly evidence: string[] = [];
  readonly startedAt: number;
  readonly #connector: Connector;
  readonly #settings: ConnectSettings;
  readonly #signal: Cancellation | undefined;
  #connection: NegotiatedConnection | undefined;
  #hasRestarted = false;
  /** The server answered `server/discover` after it was taken for a legacy one. */
  #answeredLate = false;
  #remembering: Promise<void> | undefined;

  constructor(connector: Connector, settings: ConnectSettings, signal: Cancellation | undefined) {
    this.#connector = connector;
    this.#settings = settings;
    this.#signal = signal;
    this.startedAt = settings.clock.now();
  }

  /** The open connection. */
  get connection(): NegotiatedConnection {
    return this.#connection!;
  }

  /** Opens the connection, unless there is one. */
  async open(): Promise<NegotiatedConnection> {
    this.#throwIfCancelled();
    this.#connection ??= new NegotiatedConnection(await this.#connect(), this.#settings);
    this.#throwIfCancelled();
    return this.#connection;
  }

  async close(): Promise<void> {
    await this.#connection?.close();
  }

  /** Closes the connection. The next `open` makes another one. */
  async discard(): Promise<void> {
    await this.#connection?.close();
    this.#connection = undefined;
  }

  /** Starts the server once more, after the first process has ended. There is no third start. */
  async restart(why: string): Promise<void> {
    if (this.#hasRestarted) throw this.noCommonRevision(why);
    this.#hasRestarted = true;
    await this.discard();
    this.evidence.push('it was started once more, to be spoken to as legacy');
  }

  /** The era of this server in an earlier run. A cache that fails is ignored. */
  async rememberedEra(): Promise<Era | undefined> {
    const { identity } = this.#connector;
    if (identity === undefined) return undefined;
    const known = await this.#settings.cache?.get(identity).catch(() => undefined);
    return known?.era;
  }

  remember(era: Era, revision: string): void {
    const { identity } = this.#connector;
    const { cache, clock } = this.#settings;
    if (identity === undefined || this.#answeredLate) return;
    this.#remembering = cache?.set(identity, { era, revision, at: clock.now() }).catch(() => {});
  }

  /** The server is modern after all. This connection stays legacy, and the next run probes again. */
  async forget(): Promise<void> {
    this.#answeredLate = true;
    const { identity } = this.#connector;
    await this.#remembering;
    if (identity !== undefined) await this.#settings.cache?.delete(identity).catch(() => {});
  }

  noCommonRevision(why: string, cause?: unknown): IsthmusError {
    const failedStart = startFailureIn(cause);
    if (failedStart) {
      const message = `${this.#connector.label} answers, but the server behind it could not be started: ${failedStart.message}`;
      return new IsthmusError(failedStart.code, message, { sent: 'no', cause });
    }
    return new IsthmusError('NO_COMMON_REVISION', `Cannot use ${this.#connector.label}: ${why}`, {
      sent: 'no',
      cause,
    });
  }

  /** The error to report: that connecting was cancelled, or this one with the evidence. */
  failure(error: unknown): unknown {
    if (this.#signal?.aborted) return this.#cancelled();
    if (!(error instanceof IsthmusError) || this.evidence.length === 0) return error;
    return error.with({ evidence: this.evidence });
  }

  /** Opening may hang. It is given up after the timeout, and a connection that comes later is closed. */
  async #connect(): Promise<Connection> {
    const { clock, connectTimeoutMs } = this.#settings;
    const opening = Promise.resolve(this.#connector.connect());
    if (await within(clock, connectTimeoutMs, opening)) return opening;
    opening.then((connection) => connection.close()).catch(() => {});
    const message = `${this.#connector.label} could not be reached within ${connectTimeoutMs} ms`;
    throw new IsthmusError('TIMED_OUT', message, { sent: 'no' });
  }

  #throwIfCancelled(): void {
    if (this.#signal?.aborted) throw this.#cancelled();
  }

  #cancelled(): IsthmusError {
    const message = `Connecting to ${this.#connector.label} was cancelled`;
    return new IsthmusError('CANCELLED', message, { cause: this.#signal?.reason, sent: 'no' });
  }
}

/** A bridge or a gateway refuses the handshake if its own server does not start. The revisions have nothing to do with it. */
function startFailureIn(refusal: unknown): { code: LocalErrorCode; message: string } | undefined {
  if (!(refusal instanceof ProtocolError) || !isJsonObject(refusal.data)) return undefined;
  const code = START_FAILURES.find((each) => each === (refusal.data as JsonObject)['reason']);
  return code && { code, message: refusal.message };
}

const START_FAILURES: readonly LocalErrorCode[] = ['CHILD_EXITED', 'CANNOT_START', 'CRASH_LOOP', 'DISABLED'];
