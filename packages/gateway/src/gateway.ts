import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { HostOptions } from '@isthmus/sdk/internal/host/create-host.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import type { HostStatus } from '@isthmus/sdk/internal/host/status.js';
import type { NodeServerOptions } from '@isthmus/sdk/internal/transport/http-server/node-server.js';
import type { HttpEndpointOptions } from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { Implementation } from '@isthmus/sdk/internal/wire/model.js';
import type { GatewayServer } from './gateway-server.js';
import type { SsePaths } from './http/frontend.js';
import type { RateLimit } from './limits/rate-limit.js';
import type { CallObserver } from './pipeline/server-pipeline.js';
import type { GatewayServerSpec } from './server-definition.js';
import type { GatewayStatus } from './server-state.js';
import type { Redactor } from './telemetry/redactor.js';

export interface GatewayOptions {
  /** The servers, in the order in which they are listed. */
  readonly units: readonly GatewayServerSpec[];
  /** `http://HOST:PORT/PATH`, `unix:PATH`, `tcp://HOST:PORT`, `stdio`. */
  readonly addresses: readonly string[];
  /** One server that will stay the only one: it is served as it is, everywhere. */
  readonly single?: boolean;
  readonly info?: Implementation;
  /** Doors and limits of every HTTP address. */
  readonly endpoint?: Omit<HttpEndpointOptions, 'path' | 'sse'>;
  readonly server?: Omit<NodeServerOptions, 'host' | 'port'>;
  readonly host?: Omit<HostOptions, 'servers'>;
  /** Where the transport of 2024-11-05 is beside the path of an address; `false`: nowhere. Default `/sse`, `/message`. */
  readonly sse?: SsePaths | false | undefined;
  /** More paths that say whether it is alive, besides `/healthz`. */
  readonly healthPaths?: readonly string[] | undefined;
  /** The principals that see all of `/status` and `/metrics`; others see how the servers are. */
  readonly operators?: readonly string[] | undefined;
  readonly separator?: string | undefined;
  readonly patienceMs?: number | undefined;
  /** How long what is running may take when the gateway, or a server of it, is to end. Default 10 s. */
  readonly graceMs?: number | undefined;
  /**
   * Keys of 32 bytes as base64url that seal `requestState`, so that replicas can go on with each other's rounds. The
   * first seals, all open. Default: a random one.
   */
  readonly stateKeys?: readonly string[] | undefined;
  /** Rounds of modern clients that may wait at each server that is served. Default 1,000. */
  readonly maxParked?: number | undefined;
  /** Clients may read what a process wrote to stderr before it ended: they are those who run it. */
  readonly tellsStderr?: boolean;
  /** Receives what happens at each server, for logs, metrics and traces. */
  readonly observer?: CallObserver | undefined;
  /** How often each caller may call, all servers together. */
  readonly rate?: RateLimit | undefined;
  /** Puts something of your own around each server, outside of all that the gateway puts there. */
  around?(service: Service, unit: GatewayServerSpec): Service;
  metrics?(host: () => Promise<HostStatus>): Promise<{ readonly type: string; readonly text: string }>;
  /** Takes secrets out of what is told. */
  readonly redactor?: Pick<Redactor, 'text' | 'json'>;
  onHostEvent?(event: HostEvent): void;
  onStartFailed?(name: string, error: unknown): void;
  /** The state of a server may have changed. */
  onChange?(name: string): void;
  readonly clock?: Clock;
}

/** Which servers a new configuration has changed. */
export interface AppliedChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: readonly string[];
}

/** Many servers behind one door. */
export interface Gateway extends AsyncDisposable {
  /** Where it listens, with real ports. */
  readonly addresses: readonly string[];
  readonly names: readonly string[];
  readonly definitions: readonly GatewayServerSpec[];
  unit(name: string): GatewayServer;
  /** The servers are these from now on. What did not change is not touched; what is replaced is drained. */
  apply(units: readonly GatewayServerSpec[]): AppliedChanges;
  /** Why the last configuration was not taken over; shown in the status. */
  configProblem: string | undefined;
  status(): Promise<GatewayStatus>;
  /** The servers that are needed and not ready. */
  unready(): Promise<readonly string[]>;
  /** Takes nobody new, finishes what runs within the grace, and ends everything. A second time hurries. */
  close(options?: CloseOptions): Promise<void>;
  /** Aborted as soon as it is to end. */
  readonly closing: AbortSignal;
  readonly closed: Promise<void>;
}

export interface CloseOptions {
  /** How long running calls may take; then they are aborted. */
  readonly graceMs?: number;
  /** How long aborted calls may take for an answer. Default 0. */
  readonly abortMs?: number;
}
