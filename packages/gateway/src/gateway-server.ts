import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { bridgeOptionsOf } from '@isthmus/sdk/internal/bridge/bridge-options.js';
import { type Bridge, createBridge } from '@isthmus/sdk/internal/bridge/create-bridge.js';
import { withoutStderr } from '@isthmus/sdk/internal/bridge/upstream-errors.js';
import type { Client } from '@isthmus/sdk/internal/client/client.js';
import { type Upstream, upstreamAt } from '@isthmus/sdk/internal/client/connect.js';
import type { EraCache } from '@isthmus/sdk/internal/client/negotiation/era-cache.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Tap } from '@isthmus/sdk/internal/exchange/tap.js';
import type { Host } from '@isthmus/sdk/internal/host/create-host.js';
import { upstreamOfSpec } from '@isthmus/sdk/internal/host/host-upstream.js';
import type { LoginSource } from '@isthmus/sdk/internal/host/spec-connector.js';
import type { ServerStatus } from '@isthmus/sdk/internal/host/status.js';
import type { TaskStore } from '@isthmus/sdk/internal/server/tasks/store.js';
import { ToolHints } from './access/tool-hints.js';
import type { AggregateMember } from './aggregate/members.js';
import { tasksOfServer } from './aggregate/shared-tasks.js';
import { gatewayLogin, loginWatch } from './logins/login-source.js';
import type { CallerTokens } from './personal/caller-tokens.js';
import { exchangedLogins } from './personal/exchanged-logins.js';
import { type OwnLoginsOptions, ownLogins } from './personal/own-logins.js';
import { type PersonalLogins, principalUpstream } from './personal/personal-logins.js';
import { assembleServer, type PipelineInputs } from './pipeline/server-pipeline.js';
import { RemoteHealth } from './pipeline/track-health.js';
import type { GatewayServerSpec } from './server-definition.js';
import {
  type GatewayServerState,
  type GatewayServerStatus,
  isTriedAgain,
  type StatusViewer,
  stateOfProcesses,
  statusFor,
} from './server-state.js';

/** What all servers of a gateway have in common. */
export interface GatewayServerContext
  extends Pick<PipelineInputs, 'observer' | 'rate' | 'access' | 'audit' | 'cluster'> {
  readonly host: Host;
  readonly clock: Clock;
  /** Where the eras of remote servers are kept, as for a host. */
  readonly cache?: EraCache | false | undefined;
  /** Where the logins for remote servers come from. Default: the daemon of this user where it runs, else the store. */
  readonly logins?: LoginSource | undefined;
  /** The tokens of the callers. Undefined: callers have none, for example those of the daemon. */
  readonly callers?: CallerTokens | undefined;
  /** Where callers log in to servers themselves. Undefined: callers are not authenticated. */
  readonly connect?: Pick<OwnLoginsOptions, 'pages' | 'logins'> | undefined;
  /** Where tasks are kept, for all servers. Undefined: each server keeps its own in memory. */
  readonly taskStore?: TaskStore | undefined;
  /** Sees what goes over the connections to a remote server. The host has that of processes. */
  readonly tap?: ((server: string) => Tap) | undefined;
  /** A stage of the program that embeds the gateway, around all others. */
  around?(service: Service, unit: GatewayServerSpec): Service;
  /** Clients run the gateway themselves, and may read what a process wrote to stderr. */
  readonly tellsStderr: boolean;
  /** Default true. False: calls wait for a server that does not start, and a remote server is not probed. */
  readonly watchesServers?: boolean;
  /** Removes secrets from what clients read. Not set: the clients know them already. */
  readonly clean?: (text: string) => string;
  /** Called when the state of a server may have changed. */
  onChange(unit: GatewayServer): void;
  readonly onStartFailed: (name: string, error: unknown) => void;
}

/** One server of the gateway: its bridge, the stages around it, and its state. */
export class GatewayServer implements AggregateMember {
  readonly name: string;
  readonly bridge: Bridge;
  readonly service: Service;
  /** The bridge with the logins of its callers, without the stages around it. */
  readonly bare: Service;
  /** Which of its tools only read, for the access rules. */
  readonly hints: ToolHints;
  readonly #context: GatewayServerContext;
  readonly #health: RemoteHealth | undefined;
  readonly #personal: PersonalLogins | undefined;
  #definition: GatewayServerSpec;
  #kept: Client | undefined;

  constructor(definition: GatewayServerSpec, context: GatewayServerContext) {
    const { name, kind } = definition;
    const { host, clock } = context;
    this.name = name;
    this.#definition = definition;
    this.#context = context;
    const personal = personalLogins(definition, context);
    this.hints = new ToolHints(clock, personal !== undefined || hasProcessPerCaller(definition));
    this.#personal = personal;
    const upstream = openUpstream(definition, context, personal);
    this.bridge = createBridge(upstream, {
      ...(definition.kind !== 'broken' && bridgeOptionsOf(definition)),
      clock,
      ...(context.taskStore && { tasks: { store: tasksOfServer(context.taskStore, name) } }),
      ...(context.clean && { clean: context.clean }),
      onStartFailed: (error) => {
        void this.#health?.doubted();
        context.onStartFailed(name, error);
      },
    });
    const { watchesServers = true } = context;
    if (watchesServers && (kind === 'url' || kind === 'socket')) {
      this.#health = new RemoteHealth({
        ...{ upstream, clock, login: loginWatch(definition), isPersonal: personal !== undefined },
        onChange: () => context.onChange(this),
      });
      this.#health.isOff = definition.disabled ?? false;
    }
    const processes = {
      isBackingOff: () => host.isBackingOff(name),
      status: () => host.snapshot(name),
      isKnown: () => this.bridge.upstream !== undefined,
      clock,
      clean: context.clean,
    };
    this.bare = personal?.around(this.bridge) ?? this.bridge;
    const service = assembleServer(this.bare, {
      server: name,
      clock,
      transport: kind === 'command' ? 'pipe' : 'tcp',
      observer: context.observer,
      access: context.access,
      audit: context.audit,
      hints: this.hints,
      rate: context.rate,
      cluster: context.cluster,
      limits: definition.limits,
      tools: definition.tools,
      lastStderr: context.tellsStderr ? () => this.#lastStderr() : undefined,
      processes: watchesServers && kind === 'command' ? processes : undefined,
      health: this.#health,
    });
    this.service = context.around?.(service, definition) ?? service;
  }

  get definition(): GatewayServerSpec {
    return this.#definition;
  }

  /** Keeps the process running from now on, also without clients: it is started again when it ends. */
  keep(): void {
    const { kind, processes } = this.#definition;
    const isShared = kind === 'command' && processes === 'shared';
    if (isShared) this.#kept ??= this.#context.host.conversation(this.name, { name: 'gateway' });
  }

  /** The process definition changed; the host restarts the process. Its capabilities may have changed, so they are read again. */
  redefine(definition: GatewayServerSpec): void {
    this.#definition = definition;
    this.#refresh().then(
      () => this.#context.onChange(this),
      () => {},
    );
  }

  /** Starts or contacts the server, so that its capabilities are known. Does nothing where each client has its own process. */
  async start(): Promise<void> {
    const { kind } = this.#definition;
    if (kind === 'broken') return;
    // It answers for callers with a token only, so all that can be known is whether it is there.
    if (this.#personal) return this.#health?.review();
    if (kind !== 'command') {
      // Earlier knowledge does not prove that the server answers now.
      await (this.bridge.upstream ? this.#refresh() : this.bridge.start());
      this.#health!.answered();
      return;
    }
    if (hasProcessPerCaller(this.#definition)) return;
    // The bridge may know the server from before, so the process is started explicitly.
    const { host, clock } = this.#context;
    const proof = createDeferred<void>();
    const unwatch = host.watch(({ server, kind }) => {
      if (server === this.name && (kind === 'receipt' || kind === 'exit')) proof.resolve();
    });
    try {
      await Promise.all([this.bridge.start(), host.start(this.name)]);
      // The server is ready when it has answered its first list, too.
      if (this.state().state === 'starting') await within(clock, PROOF_MS, proof.promise);
    } finally {
      unwatch();
    }
  }

  async restart(): Promise<void> {
    this.#checkUsable();
    if (!this.#health) return this.#context.host.restart(this.name);
    await this.#refresh();
    this.#health.answered();
  }

  async switch(isOn: boolean): Promise<void> {
    const { host, onChange } = this.#context;
    this.#checkUsable();
    if (this.#health) this.#health.isOff = !isOn;
    else await (isOn ? host.enable(this.name) : host.disable(this.name));
    onChange(this);
    if (isOn) await this.start();
  }

  #checkUsable(): void {
    const spec = this.#definition;
    if (spec.kind === 'broken') throw new IsthmusError('INVALID_OPTION', spec.reason);
  }

  /** Settles when `state` is up to date. */
  async refreshState(): Promise<void> {
    await this.#health?.review();
  }

  state(): GatewayServerState {
    const spec = this.#definition;
    if (spec.kind === 'broken') return { state: 'failed', reason: spec.reason };
    if (spec.kind === 'command') return stateOfProcesses(this.#context.host.snapshot(this.name));
    return this.#health!.state;
  }

  absence(viewer?: StatusViewer): string | undefined {
    const { tellsStderr, clean = asIs, host } = this.#context;
    const all = this.#definition.kind === 'command' ? host.snapshot(this.name) : undefined;
    const processes = statusFor(all, viewer);
    // No process of this caller has failed. The processes of others do not count.
    if (all?.enabled && !processes) return undefined;
    const { state, reason: whole } = processes ? stateOfProcesses(processes) : this.state();
    if (state === 'off') return `${this.name} is switched off`;
    const isAbsent = state === 'failed' || state === 'needs-login';
    if (!isAbsent && !(processes && isTriedAgain(processes))) return undefined;
    const reason = whole && clean(tellsStderr ? whole : withoutStderr(whole));
    return reason ?? `${this.name} cannot be used`;
  }

  async status(paths: readonly string[]): Promise<GatewayServerStatus> {
    const { kind, needed = true } = this.#definition;
    await this.refreshState();
    const processes = kind === 'command' ? await this.#processes() : undefined;
    const { upstream } = this.bridge;
    const verdict = processes?.processes.find((each) => each.verdict)?.verdict;
    return {
      name: this.name,
      kind: kind === 'url' || kind === 'socket' ? 'url' : 'command',
      needed,
      ...(processes ? stateOfProcesses(processes) : this.state()),
      era: verdict?.era ?? upstream?.era,
      evidence: verdict?.why,
      server: upstream && { name: upstream.info.name, version: upstream.info.version },
      paths,
      processes,
      ...(this.#personal && { logins: await this.#personal.status() }),
    };
  }

  /** The current status of its processes. The facts of the operating system take a moment, and may be slightly older. */
  async #processes(): Promise<ServerStatus | undefined> {
    const { host } = this.#context;
    const known = (await host.statusOf(this.name))?.processes ?? [];
    const now = host.snapshot(this.name);
    if (!now) return undefined;
    const factsOf = (pid: number | undefined) => known.find((each) => each.pid === pid)?.facts;
    return { ...now, processes: now.processes.map((each) => ({ ...each, facts: factsOf(each.pid) })) };
  }

  /** Reads the capabilities again. If that fails, the health of the server is in doubt. */
  async #refresh(): Promise<void> {
    try {
      await this.bridge.refresh();
    } catch (error) {
      await this.#health?.doubted();
      throw error;
    }
  }

  #lastStderr(): string {
    if (this.#definition.kind !== 'command') return '';
    const { host, clean = asIs } = this.#context;
    return clean(host.snapshot(this.name)?.lastExit?.stderrTail ?? '');
  }

  async close(): Promise<void> {
    this.#health?.close();
    await this.#kept?.close();
    await this.bridge.close();
  }
}

function nowhere(label: string, reason: string): Connector {
  return {
    label,
    identity: undefined,
    connect() {
      throw new IsthmusError('INVALID_OPTION', `${label} is not configured properly: ${reason}`, {
        sent: 'no',
      });
    },
  };
}

function openUpstream(
  spec: GatewayServerSpec,
  { host, cache, tap: tapOf, logins = gatewayLogin }: GatewayServerContext,
  personal: PersonalLogins | undefined,
): Upstream {
  if (spec.kind === 'command') return host.upstream(spec.name);
  if (spec.kind === 'broken') return upstreamAt(nowhere(spec.name, spec.reason));
  const tap = tapOf?.(spec.name);
  if (personal && spec.kind === 'url') return principalUpstream(spec, personal, { cache, tap });
  return upstreamOfSpec(spec, { cache, logins, tap });
}

/** Undefined for a server whose requests all have the same login. */
function personalLogins(
  spec: GatewayServerSpec,
  { callers, connect, clock }: GatewayServerContext,
): PersonalLogins | undefined {
  if (spec.kind !== 'url') return undefined;
  const mode = spec.auth?.mode;
  if (mode === 'per-user' && connect) return ownLogins(spec, { ...connect, clock });
  return mode === 'token-exchange' && callers ? exchangedLogins(spec, { callers, clock }) : undefined;
}

function hasProcessPerCaller({ kind, processes }: GatewayServerSpec): boolean {
  return kind === 'command' && (processes === 'per-principal' || processes === 'per-conversation');
}

/** How long to wait for the first list. */
const PROOF_MS = 5000;

function asIs(text: string): string {
  return text;
}
