import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { toConnectionError } from '@isthmus/sdk/internal/bridge/upstream-errors.js';
import type { Upstream } from '@isthmus/sdk/internal/client/connect.js';
import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { LoginWatch } from '../logins/login-source.js';
import type { GatewayServerState } from '../server-state.js';
import { deriveService } from './derive-service.js';

export interface RemoteHealthOptions {
  readonly upstream: Upstream;
  readonly clock: Clock;
  /** For a server whose login is a stored one. */
  readonly login?: LoginWatch | undefined;
  /** Its callers have logins of their own, and the gateway has none: a 401 proves that it is there. */
  readonly isPersonal?: boolean | undefined;
  /** Called when the state has changed. */
  readonly onChange: () => void;
}

/**
 * Whether a remote server answers. There is no process to watch, so it is probed: when the state is wanted and the last
 * answer is older than `FRESH_MS`, and at once after a call could not reach it.
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

  /** The operator has switched the server off: its calls are rejected. */
  isOff = false;

  get state(): GatewayServerState {
    return this.isOff ? { state: 'off', reason: undefined } : this.#state;
  }

  get label(): string {
    return this.#options.upstream.label;
  }

  /** The server has just answered a call. */
  answered(): void {
    this.#askedAt = this.#options.clock.now();
    this.#become({ state: 'ready', reason: undefined });
  }

  /** A call could not reach the server. Probes it, because that may have been chance. */
  async doubted(): Promise<void> {
    this.#askedAt = Number.NEGATIVE_INFINITY;
    await this.review();
  }

  /** Settles when the state is fresh. */
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
    const { upstream, clock, login } = this.#options;
    // Before the server is asked: a login that comes meanwhile is a change.
    const mark = await login?.mark();
    const session = upstream.open({
      name: 'health',
      principal: undefined,
      info: undefined,
      capabilities: {},
      answers: {},
      onLog: undefined,
      onElicited: undefined,
      onNotification: undefined,
      onReopened: () => {},
    });
    const answer = (async () => {
      const caller = await session.connected();
      const method = caller.era === 'legacy' ? 'ping' : 'server/discover';
      await caller
        .call({ method, params: {}, timeoutMs: PATIENCE_MS, maxTimeoutMs: PATIENCE_MS })
        .catch((error: unknown) => {
          // An error of the protocol is an answer, too.
          if (!(error instanceof ProtocolError)) throw error;
        });
    })();
    try {
      if (await within(clock, PATIENCE_MS, answer)) await answer;
      else throw new Error(`it did not answer within ${PATIENCE_MS / 1000} s`);
      this.answered();
    } catch (error) {
      if (this.#isOver) return;
      if (this.#options.isPersonal && isMissingLogin(error)) return this.answered();
      this.#askedAt = clock.now();
      const needsLogin = login !== undefined && isMissingLogin(error);
      this.#become({ state: needsLogin ? 'needs-login' : 'failed', reason: messageOf(error) });
      this.#callOff();
      if (needsLogin) return this.#awaitLogin(login, mark);
      // Without a timer, clients would hear that it is back only when the state is wanted again.
      this.#callOff = clock.after(AGAIN_MS, () => void this.review(), { background: true });
    } finally {
      await session.close();
    }
  }

  /** Looks at the store until the login has changed, and asks the server then. */
  #awaitLogin(login: LoginWatch, mark: string | undefined): void {
    if (this.#isOver) return;
    const look = async () => {
      if ((await login.mark()) === mark) this.#awaitLogin(login, mark);
      else await this.doubted();
    };
    this.#callOff = this.#options.clock.after(LOOK_MS, () => void look(), { background: true });
  }

  #become(state: GatewayServerState): void {
    const before = this.#state;
    this.#state = state;
    if (before.state !== state.state) this.#options.onChange();
  }
}

/** How long an answer proves that the server is there. */
const FRESH_MS = 5000;
const PATIENCE_MS = 5000;
const AGAIN_MS = 5500;
/** How often the store is looked at while a login is missing. */
const LOOK_MS = 1000;

/** The server has answered, and wants a login that there is not. */
function isMissingLogin(error: unknown): boolean {
  return error instanceof IsthmusError && error.code === 'UNAUTHORIZED' && error.status === 401;
}

/** Rejects calls to a remote server that is switched off, and lets the outcome of every other call update its health. */
export function trackHealth(
  inner: Service,
  { health }: { readonly health?: RemoteHealth | undefined },
): Service {
  if (!health) return inner;
  return deriveService(inner, {
    async handle(call) {
      if (health.isOff) {
        const message = `${health.label} is switched off; start it to use it`;
        throw toConnectionError(new IsthmusError('DISABLED', message, { sent: 'no' }));
      }
      try {
        const result = await inner.handle(call);
        if (health.state.state !== 'ready') health.answered();
        return result;
      } catch (error) {
        if (isUnreachable(error)) void health.doubted();
        throw error;
      }
    },
  });
}

/** The bridge sets a reason where it was not the server that answered. */
function isUnreachable(error: unknown): boolean {
  return error instanceof ProtocolError && isJsonObject(error.data) && AWAY.has(error.data['reason']);
}

const AWAY: ReadonlySet<unknown> = new Set([
  'CONNECTION_CLOSED',
  'ADDRESS_UNAVAILABLE',
  'TIMED_OUT',
  'HTTP_STATUS',
  'UNAUTHORIZED',
]);
