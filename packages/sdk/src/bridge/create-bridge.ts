import { checkedOptions, type OptionNames } from '../arguments.js';
import { systemClock } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import { type Upstream, type UpstreamOptions, upstreamAt } from '../client/connect.js';
import { checkConnector } from '../client/options.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import { repeatRequest } from '../client/tasks/repeat-request.js';
import { report, tell } from '../era/client-dialect-context.js';
import { listenWithTasks } from '../era/listen-with-tasks.js';
import { IsthmusError, messageOf } from '../errors.js';
import type {
  Call,
  Change,
  EarlyMessage,
  ForeignChange,
  ForeignNotification,
  HandledResult,
  HeaderParam,
  OpenListen,
  Peer,
  ServedSession,
  Service,
  Serving,
  SessionKeeper,
  TaskWatch,
} from '../exchange/call.js';
import type { Connector } from '../exchange/connection.js';
import { lostWorker } from '../server/tasks/lost-task.js';
import type { TaskRecord } from '../server/tasks/store.js';
import { VERSION } from '../version.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { CacheHints, Implementation, ServerCapabilities, SubscriptionFilter } from '../wire/model.js';
import type { BridgeOptions } from './bridge-options.js';
import { forward, resume } from './forward.js';
import { carriedCapabilities, type ForwardContext } from './forwarded-call.js';
import { BridgedSession, type KeeperContext, listenUpstream } from './keep-session.js';
import { PendingFirstSession, peerOf } from './pending-first-session.js';
import { BridgeTasks, shownSupport, withTaskCapabilities } from './tasks/bridge-tasks.js';
import type { UpstreamTask } from './tasks/task-note.js';
import { patienceOf } from './tasks/upstream-task.js';
import { cleaned, toClientError, toConnectionError } from './upstream-errors.js';
import { toUpstreamFacts, type UpstreamFacts, UpstreamTools } from './upstream-facts.js';
import {
  declaredCapabilities,
  EVERYTHING,
  sessionKey,
  sharedCapabilities,
  UpstreamSessions,
} from './upstream-sessions.js';

/** One upstream, for clients of both eras. Serve it like a server of your own. */
export interface Bridge extends Service, AsyncDisposable {
  /** What the server is. Undefined before the first connection. */
  readonly upstream: UpstreamFacts | undefined;
  /** Settles when the first connection to the server has succeeded. */
  readonly known: Promise<UpstreamFacts>;
  /** How many sessions with the server there are, including those that connect with their next call. */
  readonly upstreamSessions: number;
  /** Settles when the server has answered. Rejects with the reason when the connection fails. */
  start(): Promise<void>;
  /** Goes on with a task whose process has ended, or fails it. It is in the store of the bridge. */
  recoverTask(record: TaskRecord): Promise<void>;
  /** Connects again to learn what the server is, after its definition has changed. */
  refresh(): Promise<void>;
  /** Ends all sessions with the server. Does not close the host of the server. */
  close(): Promise<void>;
}

/**
 * Makes a service of any server, for clients of both eras. For a stdio server whose process is kept alive, use a host:
 * `createBridge(host.upstream('weather'))`.
 *
 * @example
 * ```ts
 * import { connect, createBridge, http, serve, stdio } from '@isthmus/sdk';
 *
 * const bridge = createBridge(stdio({ command: 'node', args: ['server.js'] }));
 * const served = await serve(bridge, http({ port: 0 }));
 *
 * const client = await connect(http(served.addresses[0]!), { mode: 'legacy' });
 * const { content } = await client.callTool('hello');
 * console.log(client.era, content); // prints: legacy [ { type: 'text', text: 'Hello!' } ]
 * await client.close();
 * await served.close();
 * await bridge.close();
 * ```
 */
export function createBridge(
  upstream: Upstream | Connector,
  options: BridgeOptions & UpstreamOptions = {},
): Bridge {
  if (typeof (upstream as Partial<Upstream> | undefined)?.open !== 'function') {
    checkConnector('createBridge', upstream);
  }
  checkedOptions('createBridge', options, BRIDGE_OPTIONS);
  const { stateless, timeoutMs, maxTimeoutMs, maxUpstreamSessions, idleMs, ...others } = options;
  const { promoteAfterMs, tasks, onStartFailed, clean, ...rest } = others;
  const settings = {
    stateless: stateless ?? false,
    timeoutMs: timeoutMs ?? 600_000,
    maxTimeoutMs: maxTimeoutMs ?? 86_400_000,
    maxUpstreamSessions,
    idleMs: idleMs ?? 600_000,
    promoteAfterMs,
    tasks,
    onStartFailed: onStartFailed ?? (() => {}),
    clean: clean ?? ((text: string) => text),
    clock: options.clock ?? systemClock,
  };
  const limits = ['timeoutMs', 'maxTimeoutMs', 'maxUpstreamSessions', 'idleMs', 'promoteAfterMs'] as const;
  for (const name of limits) {
    const value = settings[name];
    if (value === undefined || value > 0) continue;
    throw new IsthmusError('INVALID_OPTION', `${name} must be a positive number, got ${value}`);
  }
  const resolved =
    'open' in upstream ? upstream : upstreamAt(upstream, { ...rest, timeoutMs: settings.timeoutMs });
  return new BridgeService(resolved, settings);
}

const BRIDGE_OPTIONS: OptionNames<BridgeOptions & UpstreamOptions> = {
  stateless: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  maxUpstreamSessions: true,
  idleMs: true,
  promoteAfterMs: true,
  tasks: true,
  onStartFailed: true,
  clean: true,
  clock: true,
  mode: true,
  info: true,
  answers: true,
  maxRounds: true,
  onNoise: true,
  cache: true,
  connectTimeoutMs: true,
  silenceMs: true,
  bootMs: true,
};

type Optional = 'maxUpstreamSessions' | 'promoteAfterMs' | 'tasks';
type BridgeSettings = Required<Omit<BridgeOptions, Optional>> & {
  readonly [name in Optional]: BridgeOptions[name] | undefined;
};

/** A service that forwards every call. */
class BridgeService implements Bridge {
  readonly discoveryCache: CacheHints | undefined = undefined;
  readonly #upstream: Upstream;
  readonly #settings: BridgeSettings;
  readonly #sessions: UpstreamSessions;
  #keeperContext: KeeperContext | undefined;
  readonly #tools = new UpstreamTools((support, peer) => {
    const { promoteAfterMs } = this.#settings;
    return shownSupport(support, peer, this.#facts!, this.#tasks && promoteAfterMs !== undefined);
  });
  readonly #known = createDeferred<UpstreamFacts>();
  #facts: UpstreamFacts | undefined;
  #context: ForwardContext | undefined;
  /** Attempts to learn what the server is: one, or one for each principal if each has its own process. */
  readonly #learning = new Map<string | undefined, Promise<void>>();
  /** The callers of these attempts. */
  readonly #learningCallers = new Set<ReconnectingCaller>();
  #closed = false;
  /** Made when the server is known to have tasks: others cost nothing. */
  #tasks: BridgeTasks | undefined;
  /** Those who serve the bridge at the moment, with what ends the tasks for them. */
  readonly #servings = new Set<TaskServing>();

  constructor(upstream: Upstream, settings: BridgeSettings) {
    this.#upstream = upstream;
    this.#settings = settings;
    this.#sessions = new UpstreamSessions({
      upstream,
      ...settings,
      onReopened: (caller) => this.#learn(caller),
    });
  }

  get upstream(): UpstreamFacts | undefined {
    return this.#facts;
  }

  get known(): Promise<UpstreamFacts> {
    return this.#known.promise;
  }

  get upstreamSessions(): number {
    return this.#sessions.size;
  }

  get info(): Implementation {
    return this.#facts?.info ?? UNKNOWN;
  }

  get instructions(): string | undefined {
    return this.#facts?.instructions;
  }

  capabilities(): ServerCapabilities {
    return this.#facts?.capabilities ?? {};
  }

  headerParams(tool: string, principal?: string): readonly HeaderParam[] {
    return this.#tools.headerParams(tool, principal);
  }

  /** Changes go to clients through `listen` and `session` only. */
  watch(): () => void {
    return () => {};
  }

  ready(opening: EarlyMessage, principal: string | undefined): Promise<void> | undefined {
    return this.#facts
      ? undefined
      : this.#start(peerOf(opening, principal), principal).catch(this.#throwConnectionError);
  }

  start(): Promise<void> {
    return this.#start(undefined, undefined);
  }

  async refresh(): Promise<void> {
    if (this.#facts) await this.#connect(undefined, undefined);
    else await this.#start(undefined, undefined);
  }

  handle(call: Call): HandledResult {
    const context = this.#context!;
    return this.#tasks?.handle(call, context, this.#forward) ?? forward(call, this.#sessions, context);
  }

  async watchTasks(peer: Peer, ids: readonly string[], onChange: (change: ForeignChange) => void) {
    return this.#tasks?.watchTasks(peer, ids, onChange) ?? NO_TASKS;
  }

  serving(): Serving {
    const serving: TaskServing = { tasks: this.#tasks?.serving() };
    this.#servings.add(serving);
    return {
      idle: async () => serving.tasks?.idle(),
      end: async () => {
        this.#servings.delete(serving);
        await serving.tasks?.end();
      },
    };
  }

  readonly #forward = (call: Call): HandledResult => forward(call, this.#sessions, this.#context!);

  recoverTask(record: TaskRecord): Promise<void> {
    this.#startTasks();
    return this.#tasks!.recover(record);
  }

  /** The server may be away for a moment, too. */
  async #resume(task: UpstreamTask, call: Call): Promise<JsonObject> {
    const start = async () => {
      await this.#start(undefined, call.peer.principal);
      return {};
    };
    try {
      await repeatRequest(start, 'tasks/get', {}, patienceOf(call, this.#settings.clock));
    } catch (error) {
      return this.#throwConnectionError(error);
    }
    // The tasks of one era mean nothing in the other.
    if (this.#facts!.era !== task.era) throw lostWorker();
    return resume(task, call, this.#sessions, this.#context!);
  }

  /** The tasks are those of the bridge: the upstream is not told of them. */
  listen(peer: Peer, wanted: SubscriptionFilter, onChange: (change: Change) => void): Promise<OpenListen> {
    const open = (rest: SubscriptionFilter) => this.#listen(peer, rest, onChange);
    return listenWithTasks(this.#tasks ?? {}, peer, wanted, onChange, open).catch((error) => {
      throw cleaned(toClientError(error, { peer, params: {} }, this.#facts!.era), this.#settings.clean);
    });
  }

  notify(notification: ForeignNotification, peer: Peer): void {
    const { label } = this.#upstream;
    const give = async () => {
      const { caller } = this.#sessions.ofPeer(peer, this.#facts!.era);
      (caller.ready ?? (await caller.connected())).notify(notification);
    };
    if (this.#facts) give().catch((error) => report(label, messageOf(error), notification));
    else report(label, 'the server is not known yet', notification);
  }

  session(client: ServedSession): SessionKeeper {
    const { clock } = this.#settings;
    try {
      this.#keeperContext ??= {
        sessions: this.#sessions,
        clock,
        capabilities: () => this.capabilities(),
        upstreamEra: () => this.#facts!.era,
      };
      return new BridgedSession(client, this.#keeperContext);
    } catch (error) {
      throw cleaned(toConnectionError(error), this.#settings.clean);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([
      ...[...this.#learningCallers].map((caller) => caller.close()),
      this.#sessions.close(),
    ]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #listen(
    peer: Peer,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
  ): Promise<OpenListen> {
    const { caller } = this.#sessions.ofPeer(peer, this.#facts!.era);
    const { info } = peer;
    const capabilities = carriedCapabilities(peer.capabilities);
    return listenUpstream(caller, wanted, onChange, { info, capabilities });
  }

  async #start(first: Peer | undefined, clientPrincipal: string | undefined): Promise<void> {
    if (this.#facts) return;
    const principal = this.#upstream.serves === 'everybody' ? undefined : clientPrincipal;
    const learning =
      this.#learning.get(principal) ??
      this.#connect(first, principal)
        .catch((error: unknown) => {
          if (!this.#closed) tell('onStartFailed', this.#settings.onStartFailed, error);
          throw error;
        })
        .finally(() => this.#learning.delete(principal));
    this.#learning.set(principal, learning);
    // The answer of another principal's process is as good.
    await Promise.race([learning, this.#known.promise]);
  }

  /** Connects to learn what the server is. If each client has its own session, the first client gets this one. */
  async #connect(first: Peer | undefined, principal: string | undefined): Promise<void> {
    if (this.#closed) throw new IsthmusError('CONNECTION_CLOSED', 'The bridge is closed', { sent: 'no' });
    const own = this.#sessions.areOwn ? first : undefined;
    const capabilities = own ? declaredCapabilities(own) : first ? sharedCapabilities(first) : EVERYTHING;
    const pending = new PendingFirstSession(this.#settings.clock, capabilities);
    const caller: ReconnectingCaller = this.#upstream.open({
      name: own?.info?.name ?? 'bridge',
      // Where each principal has a process or a login of its own, it is that of the first one.
      principal: own?.principal ?? principal,
      info: own?.era === 'legacy' ? own.info : undefined,
      capabilities,
      // A modern client cannot be asked outside of a call.
      answers: own?.era === 'legacy' ? pending.answers : {},
      onLog: own?.era === 'legacy' ? pending.onLog : undefined,
      onElicited: own?.era === 'legacy' ? pending.onElicited : undefined,
      onNotification: own?.era === 'legacy' ? pending.onNotification : undefined,
      onReopened: () => this.#learn(caller),
    });
    this.#learningCallers.add(caller);
    let isOffered = false;
    try {
      await caller.connected();
      this.#learn(caller);
      if (own) this.#sessions.offer({ caller, pending, key: sessionKey(own, capabilities) });
      isOffered = own !== undefined;
    } finally {
      this.#learningCallers.delete(caller);
      if (!isOffered) await caller.close();
    }
  }

  #startTasks(): void {
    if (this.#tasks) return;
    const { promoteAfterMs, tasks: options, clock } = this.#settings;
    const { place } = this.#upstream;
    const resumeTask = (task: UpstreamTask, call: Call) => this.#resume(task, call);
    this.#tasks = new BridgeTasks({ promoteAfterMs, options, clock, place, resume: resumeTask });
    for (const serving of this.#servings) serving.tasks = this.#tasks.serving();
  }

  readonly #throwConnectionError = (error: unknown): never => {
    throw cleaned(toConnectionError(error), this.#settings.clean);
  };

  #learn(caller: ReconnectingCaller): void {
    const { era, revision } = caller.verdict;
    const found = toUpstreamFacts(this.#upstream.label, era, revision, caller.server);
    const { timeoutMs, maxTimeoutMs, promoteAfterMs, clock } = this.#settings;
    const offersTasks = found.tasks !== undefined || promoteAfterMs !== undefined;
    const facts = offersTasks ? { ...found, capabilities: withTaskCapabilities(found.capabilities) } : found;
    if (offersTasks) this.#startTasks();
    this.#facts = facts;
    this.#known.resolve(facts);
    this.#context = {
      upstream: facts,
      tools: this.#tools,
      clock,
      timeoutMs,
      maxTimeoutMs,
      promoteAfterMs,
      place: this.#upstream.place,
      clean: this.#settings.clean,
    };
  }
}

interface TaskServing {
  tasks: Serving | undefined;
}

const NO_TASKS: TaskWatch = { accepted: [], start() {}, stop() {} };

const UNKNOWN: Implementation = { name: 'isthmus', version: VERSION };
