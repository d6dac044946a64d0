import type { Cluster } from '../../../cluster/cluster.js';
import type { HttpRoute } from '../../../era/classify/classify-http.js';
import { IsthmusError } from '../../../errors.js';
import type { Connection, ServedFacts } from '../../../exchange/connection.js';
import type { AdmittedRequest } from '../exchange/admitted-request.js';
import type { HttpEndpointSettings } from '../options.js';
import type { SessionCluster, SessionRouter } from '../sessions/sessions.js';
import type { SseReplicas } from '../sessions/sse-2024.js';

/** An admitted request, with its body. */
export interface WholeRequest {
  readonly admitted: AdmittedRequest;
  readonly body: Buffer | undefined;
}

/** The same endpoint in the other members of a cluster. Each method calls `serve` if this process is the one to serve. */
export interface EndpointReplicas extends SessionCluster, SseReplicas {
  /** A request of a legacy session. */
  serveSession(id: string, whole: WholeRequest, serve: () => void): void;
  /** A new connection of 2024-11-05. */
  serveStream(admitted: AdmittedRequest, serve: () => void): void;
  /** Another POST. */
  serve(route: HttpRoute, whole: WholeRequest, serve: () => void): void;
  /** The process ends: what does not need it goes to other members. */
  stop(): void;
  /** Settles when no other member works on a request of a client of this process. */
  idle(): Promise<void>;
  /** Requests of other members are not answered any more. */
  close(): void;
}

/** What the other members need to know of an endpoint. */
export interface ReplicatedEndpoint {
  /** Its name, the same in all members. */
  readonly place: string;
  readonly settings: HttpEndpointSettings;
  readonly sessions: SessionRouter;
  readonly accept: (connection: Connection) => void;
  /** The member that serves a request. Undefined: any member can. */
  readonly home: ServedFacts['home'];
  /** Serves a request that another member has handed on. */
  serve(admitted: AdmittedRequest): void;
}

export type OpenReplicas = (endpoint: ReplicatedEndpoint) => EndpointReplicas;

/** Registered by the code that joins a cluster, so that a server outside of clusters loads nothing of them. */
export function registerReplicas(cluster: Cluster, open: OpenReplicas): void {
  known.set(cluster, open);
}

export function replicasOf(cluster: Cluster): OpenReplicas {
  const open = known.get(cluster);
  if (open) return open;
  throw new IsthmusError('INVALID_OPTION', 'cluster must be what joinCluster returned');
}

const known = new WeakMap<Cluster, OpenReplicas>();
