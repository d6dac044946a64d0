import type { Clock } from '../async/clock.js';
import type { Service } from '../exchange/call.js';
import type { HostOptions } from '../host/create-host.js';
import type { HostEvent } from '../host/host-event.js';
import type { HostStatus } from '../host/status.js';
import type { NodeServerOptions } from '../transport/http-server/node-server.js';
import type { HttpEndpointOptions } from '../transport/http-server/options.js';
import type { Implementation } from '../wire/model.js';
import type { SsePaths } from './front/front.js';
import type { GatewayStatus } from './status.js';
import type { Redactor } from './telemetry/redactor.js';
import type { Unit } from './unit.js';
import type { UnitDefinition } from './unit-definition.js';

export interface GatewayOptions {
  /** The servers, in the order in which they are listed. */
  readonly units: readonly UnitDefinition[];
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
  /** Clients may read what a process wrote to stderr before it ended: they are those who run it. */
  readonly tellsStderr?: boolean;
  /** Puts limits, logs and counts around each server. */
  around?(service: Service, unit: UnitDefinition): Service;
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
export interface Applied {
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
  readonly definitions: readonly UnitDefinition[];
  unit(name: string): Unit;
  /** The servers are these from now on. What did not change is not touched; what is replaced is drained. */
  apply(units: readonly UnitDefinition[]): Applied;
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
