import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { toWayError } from '@isthmus/sdk/internal/bridge/upstream-errors.js';
import type { Upstream } from '@isthmus/sdk/internal/client/connect.js';
import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { GatewayServerState } from './server-state.js';
import { ServiceAround } from './service-around.js';

export interface RemoteHealthOptions {
  readonly upstream: Upstream;
  readonly clock: Clock;
  /** Told when what is known has changed. */
  readonly onChange: () => void;
}

/**
 * Whether a server that runs elsewhere is there. There is no process to watch, so it is asked: when somebody wants to
 * know and the last answer is not fresh, and at once after a call could not reach it.
 */
export class RemoteHealth {
  readonly #options: RemoteHealthOptions;
  #state: GatewayServerState = { state: 'starting', reason: undefined };
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  #callOff = () => {};
  #isOver = false;

  constructor(options: RemoteHealthOptions) {
    this.#options = options;
  }

  /** Switched off: nobody gets there. */
  isOff = false;

  get state(): GatewayServerState {
    return this.isOff ? { state: 'off', reason: undefined } : this.#state;
  }

  get label(): string {
    return this.#options.upstream.label;
  }

  /** It has answered somebody just now. */
  answered(): void {
    this.#askedAt = this.#options.clock.now();
    this.#become({ state: 'ready', reason: undefined });
  }

  /** It could not be reached; whether that was chance is found out. */
  async doubted(): Promise<void> {
    this.#askedAt = Number.NEGATIVE_INFINITY;
    await this.review();
  }

  /** Settles when what is known is fresh. */
  async review(): Promise<void> {
    if (this.#isOver || this.isOff || this.#options.clock.now() - this.#askedAt < FRESH_MS) return;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
  }

  close(): void {
    this.#isOver = true;
    this.#callOff();
  }

  async #ask(): Promise<void> {
    const { upstream, clock } = this.#options;
    const session = upstream.open({
      name: 'health',
      principal: undefined,
      info: undefined,
      capabilities: {},
      answers: {},
      onLog: undefined,
      onElicited: undefined,
      onReopened: () => {},
    });
    const answer = (async () => {
      const { caller } = await session.connected();
      const method = caller.era === 'legacy' ? 'ping' : 'server/discover';
      await caller
        .call({ method, params: {}, timeoutMs: PATIENCE_MS, maxTimeoutMs: PATIENCE_MS })
        .catch((error: unknown) => {
          // Whatever it says, it is there.
          if (!(error instanceof ProtocolError)) throw error;
        });
    })();
    try {
      if (await within(clock, PATIENCE_MS, answer)) await answer;
      else throw new Error(`it did not answer within ${PATIENCE_MS / 1000} s`);
      this.answered();
    } catch (error) {
      if (this.#isOver) return;
      this.#askedAt = clock.now();
      this.#become({ state: 'failed', reason: messageOf(error) });
      // Nobody may ask for a while, and those who wait for it should hear when it is back.
      this.#callOff();
      this.#callOff = clock.after(AGAIN_MS, () => void this.review(), { background: true });
    } finally {
      await session.close();
    }
  }

  #become(state: GatewayServerState): void {
    const before = this.#state;
    this.#state = state;
    if (before.state !== state.state) this.#options.onChange();
  }
}

/** For how long an answer counts. */
const FRESH_MS = 5000;
const PATIENCE_MS = 5000;
const AGAIN_MS = 5500;

/** A remote server whose calls say how it is, too. */
export class HealthTrackedRemote extends ServiceAround {
  readonly #health: RemoteHealth;

  constructor(inner: Service, health: RemoteHealth) {
    super(inner);
    this.#health = health;
  }

  override async handle(call: Call): Promise<JsonObject> {
    if (this.#health.isOff) {
      const message = `${this.#health.label} is switched off; start it to use it`;
      throw toWayError(new IsthmusError('DISABLED', message, { sent: 'no' }));
    }
    try {
      const result = await this.inner.handle(call);
      if (this.#health.state.state !== 'ready') this.#health.answered();
      return result;
    } catch (error) {
      // The bridge says why where it was not the server that answered.
      if (error instanceof ProtocolError && isJsonObject(error.data) && AWAY.has(error.data['reason'])) {
        void this.#health.doubted();
      }
      throw error;
    }
  }
}

const AWAY: ReadonlySet<unknown> = new Set([
  'CONNECTION_CLOSED',
  'ADDRESS_UNAVAILABLE',
  'TIMED_OUT',
  'HTTP_STATUS',
]);
