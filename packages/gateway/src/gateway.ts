import {
  checkedOptions,
  invalidArgument,
  kindOf,
  type OptionNames,
} from '@isthmus/sdk/internal/arguments.js';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { AccessSettings } from '@isthmus/sdk/internal/config/gateway/read-access.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { Tap } from '@isthmus/sdk/internal/exchange/tap.js';
import type { HostOptions } from '@isthmus/sdk/internal/host/create-host.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import type { HostStatus } from '@isthmus/sdk/internal/host/status.js';
import type { TaskStore } from '@isthmus/sdk/internal/server/tasks/store.js';
import type {
  AcceptedConnections,
  NodeServerOptions,
} from '@isthmus/sdk/internal/transport/http-server/node-server.js';
import type {
  CoversScopes,
  HttpEndpointOptions,
} from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { Implementation } from '@isthmus/sdk/internal/wire/model.js';
import type { CallAudit } from './audit/audit-record.js';
import type { ConnectIdentityOptions } from './connect/prove-identity.js';
import type { SealedFolder } from './connect/sealed-logins.js';
import type { GatewayServer } from './gateway-server.js';
import type { SsePaths } from './http/frontend.js';
import type { RateLimit } from './limits/rate-limit.js';
import type { CallObserver } from './pipeline/server-pipeline.js';
import type { ServerPlacement } from './placement/placement.js';
import type { GatewayServerSpec } from './server-definition.js';
import type { GatewayStatus } from './server-state.js';
import type { Redactor } from './telemetry/redactor.js';

/** The servers of a gateway, where it listens, who may call, and the limits. */
export interface GatewayOptions {
  /** The servers, in the order in which they are listed. */
  readonly units: readonly GatewayServerSpec[];
  /** `http://HOST:PORT/PATH`, `unix:PATH`, `tcp://HOST:PORT`, `stdio`. */
  readonly addresses: readonly string[];
  /** There is one server and will never be another: it is served as it is, also on streams. */
  readonly single?: boolean;
  /** A service of this process, served instead of `units`. It needs no bridge and no stages. */
  readonly own?: { readonly name: string; readonly service: Service } | undefined;
  readonly info?: Implementation;
  /** Access and limits of every HTTP address. */
  readonly endpoint?: Omit<HttpEndpointOptions, 'path' | 'sse'>;
  readonly server?: Omit<NodeServerOptions, 'host' | 'port'>;
  readonly host?: Omit<HostOptions, 'servers'>;
  /** The paths of the transport of 2024-11-05, beside the path of an address; `false`: none. Default `/sse`, `/message`. */
  readonly sse?: SsePaths | false | undefined;
  /** More paths that answer as `/healthz` does. */
  readonly healthPaths?: readonly string[] | undefined;
  /** The principals that see all of `/status` and `/metrics`. Others see the states of the servers. */
  readonly operators?: readonly string[] | undefined;
  /** An authorization server to which clients of 2025-03-26 are sent that look for its metadata here. */
  readonly mirrorAuthServer?: string | undefined;
  /** How callers log in to servers themselves (`per-user`). */
  readonly connect?: CallerLoginOptions | undefined;
  /** Receives a record of every call: who, what, where, and how it ended. */
  readonly audit?: CallAudit | undefined;
  /** What callers may do: scopes for servers, methods and tools, and rules that allow or deny. Default: everything. */
  readonly access?: AccessSettings | undefined;
  readonly separator?: string | undefined;
  readonly patienceMs?: number | undefined;
  /** How long running calls may take when the gateway closes or a server is removed. Default 10 s. */
  readonly graceMs?: number | undefined;
  /**
   * Keys of 32 bytes as base64url that seal `requestState`, so that replicas accept the rounds of each other. The first
   * key seals, all keys open. Default: one random key.
   */
  readonly stateKeys?: readonly string[] | undefined;
  /**
   * The cluster that this process has joined: the gateways of all its processes serve as one. Leave it after the gateway
   * has closed.
   */
  readonly cluster?: Cluster | undefined;
  /** Where the tasks of clients are kept, for all servers. Close it after the gateway. Default: in memory. */
  readonly taskStore?: TaskStore | undefined;
  /** Where the connections to the HTTP addresses come from. Default: this process listens by itself. */
  readonly connections?: AcceptedConnections | undefined;
  /** Rounds of modern clients that may wait at each server. Default 1,000. */
  readonly maxParked?: number | undefined;
  /** Clients may read what a process wrote to stderr before it ended. Set it where the clients run the gateway. */
  readonly tellsStderr?: boolean;
  /** Receives what happens at each server, for logs, metrics and traces. */
  readonly observer?: CallObserver | undefined;
  /** How often each caller may call, all servers together. */
  readonly rate?: RateLimit | undefined;
  /** Puts something of your own around each server, outside of all that the gateway puts there. */
  around?(service: Service, unit: GatewayServerSpec): Service;
  metrics?(host: () => Promise<HostStatus>): Promise<{ readonly type: string; readonly text: string }>;
  /** Removes secrets from the status and from errors. */
  readonly redactor?: Pick<Redactor, 'text' | 'json'>;
  /** Sees what goes over the connections to each server. */
  tap?(server: string): Tap;
  onHostEvent?(event: HostEvent): void;
  onStartFailed?(name: string, error: unknown): void;
  /** The state of a server may have changed. */
  onChange?(name: string): void;
  readonly clock?: Clock;
}

/** How callers log in to servers with logins of their own. */
export interface CallerLoginOptions {
  /** The address of the gateway as browsers know it. Default: its first HTTP address. */
  readonly publicUrl?: string | undefined;
  /** The client that the gateway is at the authorization server of its callers, to find out who opens a page. */
  readonly identity?: ConnectIdentityOptions | undefined;
  /** Where the logins are kept. Default: in memory. */
  readonly store?: SealedFolder | undefined;
}

/** Which servers a new configuration has changed. */
export interface AppliedChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: readonly string[];
}

/** Many servers behind one address. */
export interface Gateway extends AsyncDisposable {
  /** Where it listens, with real ports. */
  readonly addresses: readonly string[];
  readonly names: readonly string[];
  readonly definitions: readonly GatewayServerSpec[];
  unit(name: string): GatewayServer;
  /**
   * Replaces the servers, and with `access` what callers may do. Unchanged servers are not touched; removed and replaced ones
   * are drained.
   */
  apply(units: readonly GatewayServerSpec[], access?: AccessSettings): AppliedChanges;
  /** Whether the scopes of a token are enough where others are needed, by `access.implies` as it is now. */
  readonly coversScopes: CoversScopes;
  /** Why the last configuration was rejected. The status shows it. */
  configProblem: string | undefined;
  status(): Promise<GatewayStatus>;
  /** Whether another member of the cluster has the process of this server, which all clients share. */
  isElsewhere(name: string): boolean;
  /** Where the processes of each server are in the cluster. Empty outside of clusters. */
  placements(): Readonly<Record<string, ServerPlacement>>;
  /** The servers that are needed and not ready. */
  unready(): Promise<readonly string[]>;
  /** Accepts no new clients, finishes running calls within the grace, and ends everything. A second call may shorten it. */
  close(options?: CloseOptions): Promise<void>;
  /** Aborted when the gateway begins to close. */
  readonly closing: AbortSignal;
  readonly closed: Promise<void>;
}

/** How long a gateway may take to close. */
export interface CloseOptions {
  /** How long running calls may take before they are aborted. */
  readonly graceMs?: number;
  /** How long aborted calls may take to answer. Default 0. */
  readonly abortMs?: number;
}

/** Throws for options that do not exist, and for those without which there is no gateway. */
export function checkGatewayOptions(options: GatewayOptions): void {
  checkedOptions('createGateway', options, GATEWAY_OPTIONS, (name) =>
    name === 'servers' ? '; write units: Object.values(servers)' : undefined,
  );
  for (const name of ['units', 'addresses'] as const) {
    if (!Array.isArray(options[name])) {
      throw invalidArgument(`createGateway: ${name} must be a list, got ${kindOf(options[name])}`);
    }
  }
}

const GATEWAY_OPTIONS: OptionNames<GatewayOptions> = {
  units: true,
  addresses: true,
  single: true,
  own: true,
  info: true,
  endpoint: true,
  server: true,
  host: true,
  sse: true,
  healthPaths: true,
  operators: true,
  access: true,
  audit: true,
  connect: true,
  mirrorAuthServer: true,
  separator: true,
  patienceMs: true,
  graceMs: true,
  stateKeys: true,
  cluster: true,
  taskStore: true,
  connections: true,
  maxParked: true,
  tellsStderr: true,
  observer: true,
  rate: true,
  around: true,
  metrics: true,
  redactor: true,
  tap: true,
  onHostEvent: true,
  onStartFailed: true,
  onChange: true,
  clock: true,
};
