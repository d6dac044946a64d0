import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { LimitSettings, ToolLists } from '@isthmus/sdk/internal/config/server-spec.js';
import type { Call, Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { AccessPolicy } from '../access/access-policy.js';
import { enforceAccess } from '../access/enforce-access.js';
import type { ToolHints } from '../access/tool-hints.js';
import { auditCalls } from '../audit/audit-calls.js';
import type { CallAudit } from '../audit/audit-record.js';
import type { LimitRefusal } from '../limits/excess.js';
import { limitService } from '../limits/limit-service.js';
import { createRateLimit, type RateLimit } from '../limits/rate-limit.js';
import { createSharedRate } from '../limits/shared-rate.js';
import type { CallRecord, NetworkTransport, SessionRecord } from '../telemetry/call-record.js';
import type { CallTracer } from '../telemetry/call-tracer.js';
import {
  type BegunCall,
  type ObserveOptions,
  observeService,
  observeTwice,
} from '../telemetry/observe-service.js';
import { appendStderr } from './append-stderr.js';
import { failFast, type ProcessWatch } from './fail-fast.js';
import { selectTools } from './select-tools.js';
import { type RemoteHealth, trackHealth } from './track-health.js';

/** What the stages around one server need. A stage whose input is missing returns the service as it is. */
export interface PipelineInputs {
  /** The name of the server in errors, logs, metrics and traces. */
  readonly server: string;
  readonly clock: Clock;
  /** How the gateway reaches the server. */
  readonly transport: NetworkTransport;
  readonly observer?: CallObserver | undefined;
  /** Where every call is written down. */
  readonly audit?: CallAudit | undefined;
  /** What callers may do. */
  readonly access?: AccessPolicy | undefined;
  readonly hints?: ToolHints | undefined;
  /** How often each caller may call, all servers together. */
  readonly rate?: RateLimit | undefined;
  /** Other processes count the rate of the server, and hand calls on. */
  readonly cluster?: Cluster | undefined;
  /** The limits of this server. */
  readonly limits?: LimitSettings | undefined;
  readonly tools?: ToolLists | undefined;
  /** What the process last wrote to stderr. Set only where clients may read it. */
  readonly lastStderr?: (() => string) | undefined;
  /** The processes of the server, if it is a command. */
  readonly processes?: ProcessWatch | undefined;
  /** The health of the server, if it runs elsewhere. */
  readonly health?: RemoteHealth | undefined;
}

/** Receives what happens at a server. */
export interface CallObserver {
  /** A call as its client made it. */
  onClientCall(record: CallRecord): void;
  /** The same call as the server received it. A refused call does not get here. */
  onUpstreamCall(record: CallRecord): void;
  onBegin(begun: BegunCall): void;
  onSession(record: SessionRecord): void;
  onRefused(refusal: LimitRefusal): void;
  readonly tracer?: CallTracer | undefined;
}

/** Puts something around a service, or returns it as it is. */
export type Stage = (service: Service, inputs: PipelineInputs) => Service;

/**
 * All that stands between a client and the bridge to a server, in the order in which a call passes it. Authentication
 * is not a stage: it belongs to HTTP, and the principal is known before there is a call. docs/decisions/0020-one-pipeline.md
 * has the reasons for the order.
 */
export const STAGES: readonly Stage[] = [
  observeClients,
  auditCalls,
  enforceAccess,
  limitCaller,
  limitServer,
  observeUpstream,
  selectTools,
  appendStderr,
  trackHealth,
  failFast,
];

/** The bridge to a server with all stages around it. */
export function assembleServer(bridge: Service, inputs: PipelineInputs): Service {
  return STAGES.reduceRight((service, stage) => stage(service, inputs), bridge);
}

function observeClients(service: Service, inputs: PipelineInputs): Service {
  const { server, observer, cluster } = inputs;
  if (!observer) return service;
  const { onClientCall: onCall, onBegin, onSession, tracer } = observer;
  const handedOnBy = cluster && ((call: Call) => call.request?.handedOnBy);
  const options: ObserveOptions = { server, onCall, onBegin, onSession, tracer, handedOnBy };
  return isLimited(inputs)
    ? observeService(service, options)
    : observeTwice(service, options, upstreamOptions(inputs, observer));
}

/** Without limits nothing stands between the two observers: then `observeClients` is both. */
function isLimited({ rate, limits = {} }: PipelineInputs): boolean {
  return rate !== undefined || Object.values(limits).some((limit) => limit !== undefined);
}

function limitCaller(service: Service, { server, clock, rate, observer }: PipelineInputs): Service {
  return limitService(service, { server, rate, clock, onRefused: observer?.onRefused });
}

function limitServer(service: Service, inputs: PipelineInputs): Service {
  const { server, clock, limits = {}, observer } = inputs;
  const { ratePerMinute, ...bounds } = limits;
  const rate = ratePerMinute === undefined ? undefined : rateOf(ratePerMinute, inputs);
  return limitService(service, { server, limits: bounds, rate, clock, onRefused: observer?.onRefused });
}

function rateOf(perMinute: number, { server, clock, cluster }: PipelineInputs): RateLimit {
  if (!cluster) return createRateLimit({ perMinute, clock });
  return createSharedRate({ perMinute, clock, cluster, name: `server ${server}` });
}

function observeUpstream(service: Service, inputs: PipelineInputs): Service {
  const { observer } = inputs;
  if (!observer || !isLimited(inputs)) return service;
  return observeService(service, upstreamOptions(inputs, observer));
}

function upstreamOptions({ server, transport }: PipelineInputs, observer: CallObserver): ObserveOptions {
  const { onUpstreamCall: onCall, onBegin, tracer } = observer;
  return { server, onCall, onBegin, tracer, side: 'client', transport };
}
