import { systemClock } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import { type Upstream, type UpstreamOptions, upstreamAt } from '../client/connect.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import { tell } from '../era/client-dialect-context.js';
import { IsthmusError } from '../errors.js';
import type {
  Call,
  Change,
  EarlyMessage,
  HeaderParam,
  OpenListen,
  Peer,
  ServedSession,
  Service,
  SessionKeeper,
} from '../exchange/call.js';
import type { Connector } from '../exchange/connection.js';
import { VERSION } from '../version.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { CacheHints, Implementation, ServerCapabilities, SubscriptionFilter } from '../wire/model.js';
import type { BridgeOptions } from './bridge-options.js';
import { type ForwardContext, forward } from './forward.js';
import { carriedCapabilities } from './forwarded-call.js';
import { keepSession, listenThere } from './keep-session.js';
import { PendingFirstSession, peerOf } from './pending-first-session.js';
import { cleaned, toClientError, toWayError } from './upstream-errors.js';
import { toUpstreamFacts, type UpstreamFacts, UpstreamTools } from './upstream-facts.js';
import { EVERYTHING, toldKey, toldOf, UpstreamSessions } from './upstream-sessions.js';

/** One server, for clients of both eras: serve it as you would serve one of your own. */
export interface Bridge extends Service, AsyncDisposable {
  /** What the server is. Undefined until it has been spoken to. */
  readonly far: UpstreamFacts | undefined;
  /** Settles when the first connection to the server has succeeded. */
  readonly known: Promise<UpstreamFacts>;
  /** Sessions that are open to the server, or will be with the next call. */
  readonly seats: number;
  /** Settles when the server has answered; rejects with why it could not be reached. */
  start(): Promise<void>;
  /** Asks the server anew what it is: its definition is another than before. */
  refresh(): Promise<void>;
  /** Ends all sessions with the server. A host that it came from is not closed. */
  close(): Promise<void>;
}

/**
 * ```ts
 * const bridge = createBridge(http('https://example.com/mcp'));
 * await serve(bridge, stdio());
 * ```
 *
 * To keep the process of a stdio server, take it from a host: `createBridge(host.upstream('weather'))`.
 */
export function createBridge(
  upstream: Upstream | Connector,
  options: BridgeOptions & UpstreamOptions = {},
): Bridge {
  const { stateless, timeoutMs, maxTimeoutMs, maxSeats, idleMs, onStartFailed, clean, ...rest } = options;
  const settings = {
    stateless: stateless ?? false,
    timeoutMs: timeoutMs ?? 600_000,
    maxTimeoutMs: maxTimeoutMs ?? 86_400_000,
    maxSeats,
    idleMs: idleMs ?? 600_000,
    onStartFailed: onStartFailed ?? (() => {}),
    clean: clean ?? ((text: string) => text),
    clock: options.clock ?? systemClock,
  };
  for (const name of ['timeoutMs', 'maxTimeoutMs', 'maxSeats', 'idleMs'] as const) {
    const value = settings[name];
    if (value === undefined || value > 0) continue;
    throw new IsthmusError('INVALID_OPTION', `${name} must be a positive number, got ${value}`);
  }
  const there =
    'open' in upstream ? upstream : upstreamAt(upstream, { ...rest, timeoutMs: settings.timeoutMs });
  return new BridgeService(there, settings);
}

type BridgeSettings = Required<Omit<BridgeOptions, 'maxSeats'>> & {
  readonly maxSeats: number | undefined;
};

/** A service whose handler is a caller. */
class BridgeService implements Bridge {
  readonly discoveryCache: CacheHints | undefined = undefined;
  readonly #upstream: Upstream;
  readonly #settings: BridgeSettings;
  readonly #seats: UpstreamSessions;
  readonly #tools = new UpstreamTools();
  readonly #known = createDeferred<UpstreamFacts>();
  #far: UpstreamFacts | undefined;
  #context: ForwardContext | undefined;
  /** Who is finding out what the server is; where each principal has its own process, one of each. */
  readonly #learning = new Map<string | undefined, Promise<void>>();
  /** The sessions in which it is found out what the server is. */
  readonly #asking = new Set<ReconnectingCaller>();
  #closed = false;

  constructor(upstream: Upstream, settings: BridgeSettings) {
    this.#upstream = upstream;
    this.#settings = settings;
    this.#seats = new UpstreamSessions({
      upstream,
      ...settings,
      onReopened: (session) => this.#learn(session),
    });
  }

  get far(): UpstreamFacts | undefined {
    return this.#far;
  }

  get known(): Promise<UpstreamFacts> {
    return this.#known.promise;
  }

  get seats(): number {
    return this.#seats.size;
  }

  get info(): Implementation {
    return this.#far?.info ?? UNKNOWN;
  }

  get instructions(): string | undefined {
    return this.#far?.instructions;
  }

  capabilities(): ServerCapabilities {
    return this.#far?.capabilities ?? {};
  }

  headerParams(tool: string, principal?: string): readonly HeaderParam[] {
    return this.#tools.headerParams(tool, principal);
  }

  /** Clients get changes only when they ask for them: see `listen` and `session`. */
  watch(): () => void {
    return () => {};
  }

  ready(opening: EarlyMessage, principal: string | undefined): Promise<void> | undefined {
    return this.#far
      ? undefined
      : this.#start(peerOf(opening, principal), principal).catch(this.#failOnTheWay);
  }

  start(): Promise<void> {
    return this.#start(undefined, undefined);
  }

  async refresh(): Promise<void> {
    if (this.#far) await this.#ask(undefined, undefined);
    else await this.#start(undefined, undefined);
  }

  handle(call: Call): Promise<JsonObject> {
    const context = this.#context!;
    return forward(call, this.#seats, context);
  }

  listen(peer: Peer, wanted: SubscriptionFilter, onChange: (change: Change) => void): Promise<OpenListen> {
    return this.#listen(peer, wanted, onChange).catch((error) => {
      throw cleaned(toClientError(error, { peer, params: {} }, this.#far!.era), this.#settings.clean);
    });
  }

  session(near: ServedSession): SessionKeeper {
    const { clock } = this.#settings;
    try {
      return keepSession(near, {
        seats: this.#seats,
        clock,
        capabilities: () => this.capabilities(),
        far: () => this.#far!.era,
      });
    } catch (error) {
      throw cleaned(toWayError(error), this.#settings.clean);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...[...this.#asking].map((session) => session.close()), this.#seats.close()]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #listen(
    peer: Peer,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
  ): Promise<OpenListen> {
    const { session } = this.#seats.ofPeer(peer, this.#far!.era);
    const { info } = peer;
    const capabilities = carriedCapabilities(peer.capabilities);
    return listenThere(session, wanted, onChange, { info, capabilities });
  }

  async #start(first: Peer | undefined, asker: string | undefined): Promise<void> {
    if (this.#far) return;
    const principal = this.#upstream.serves === 'everybody' ? undefined : asker;
    const learning =
      this.#learning.get(principal) ??
      this.#ask(first, principal)
        .catch((error: unknown) => {
          if (!this.#closed) tell('onStartFailed', this.#settings.onStartFailed, error);
          throw error;
        })
        .finally(() => this.#learning.delete(principal));
    this.#learning.set(principal, learning);
    // What a process of another principal has answered meanwhile is as good.
    await Promise.race([learning, this.#known.promise]);
  }

  /** Speaks to the server for the first time; for its first client, where each has its own. */
  async #ask(first: Peer | undefined, principal: string | undefined): Promise<void> {
    if (this.#closed) throw new IsthmusError('CONNECTION_CLOSED', 'The bridge is closed', { sent: 'no' });
    const own = this.#seats.areOwn ? first : undefined;
    const capabilities = own ? toldOf(own) : EVERYTHING;
    const seat = new PendingFirstSession(this.#settings.clock, capabilities);
    const session: ReconnectingCaller = this.#upstream.open({
      name: own?.info?.name ?? 'bridge',
      // Where each principal has a process, it is the process of the first principal.
      principal: this.#upstream.serves === 'principal' ? principal : own?.principal,
      info: own?.era === 'legacy' ? own.info : undefined,
      capabilities,
      // A modern client cannot be asked outside of a call.
      answers: own?.era === 'legacy' ? seat.answers : {},
      onLog: own?.era === 'legacy' ? seat.onLog : undefined,
      onElicited: own?.era === 'legacy' ? seat.onElicited : undefined,
      onReopened: () => this.#learn(session),
    });
    this.#asking.add(session);
    let isOffered = false;
    try {
      await session.connected();
      this.#learn(session);
      if (own) this.#seats.offer({ session, seat, told: toldKey(own, capabilities) });
      isOffered = own !== undefined;
    } finally {
      this.#asking.delete(session);
      if (!isOffered) await session.close();
    }
  }

  readonly #failOnTheWay = (error: unknown): never => {
    throw cleaned(toWayError(error), this.#settings.clean);
  };

  #learn(session: ReconnectingCaller): void {
    const { era, revision } = session.verdict;
    const far = toUpstreamFacts(this.#upstream.label, era, revision, session.server);
    const { timeoutMs, maxTimeoutMs } = this.#settings;
    this.#far = far;
    this.#known.resolve(far);
    this.#context = { far, tools: this.#tools, timeoutMs, maxTimeoutMs, clean: this.#settings.clean };
  }
}

const UNKNOWN: Implementation = { name: 'isthmus', version: VERSION };
