import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { HostEvent } from '../../host/host-event.js';
import type { HostStatus } from '../../host/status.js';
import type { CallRecord, SessionRecord, Side } from './call-record.js';
import { BUCKETS, CallDurations } from './durations.js';
import { classifyExit } from './exit-reason.js';
import { createHostGauges } from './host-gauges.js';

export interface MetricsOptions {
  /** Memory, processor time and event loop of this process, too. Default true. */
  readonly process?: boolean;
}

/** What `/metrics` tells. Its functions can be passed on as they are. */
export interface Metrics {
  /** Of what `render` gives back. */
  readonly contentType: string;
  readonly onHostEvent: (event: HostEvent) => void;
  readonly onBegin: (begun: { readonly server: string; readonly side: Side }) => void;
  readonly onCall: (record: CallRecord) => void;
  readonly onSession: (record: SessionRecord) => void;
  /** A call was turned away because of this limit. */
  readonly onRefused: (refusal: { readonly server: string; readonly limit: string }) => void;
  /** The text for Prometheus. How the servers are is asked for here and now; without an answer it is left out. */
  readonly render: (collect?: () => Promise<HostStatus>) => Promise<string>;
}

/** A registry of its own, so that there can be several in one process. */
export function createMetrics({ process: ofProcess = true }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const durations = {
    server: new CallDurations('server', registry),
    client: new CallDurations('client', registry),
  };
  const gauges = createHostGauges(registry);
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const starts = counter('isthmus_server_starts_total', 'Processes that were started.', ['server', 'why']);
  const restarts = counter(
    'isthmus_server_restarts_total',
    'Processes that were started in the place of another one.',
    ['server', 'why'],
  );
  const exits = counter('isthmus_server_exits_total', 'Processes that ended.', ['server', 'reason', 'phase']);
  const refused = counter('isthmus_refused_total', 'Calls that were turned away at a limit.', [
    'server',
    'limit',
  ]);
  const spawns = new Histogram({
    name: 'isthmus_server_spawn_seconds',
    help: 'Time from the start of a process to its first answer.',
    labelNames: ['server'],
    buckets: [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60],
    registers,
  });
  const sessions = new Histogram({
    name: 'mcp_server_session_duration_seconds',
    help: 'Durations of legacy sessions (mcp.server.session.duration of OpenTelemetry).',
    labelNames: ['server', 'mcp_protocol_version', 'network_transport'],
    buckets: [...BUCKETS.filter((bucket) => bucket >= 0.1), 900, 3600, 14_400, 86_400],
    registers,
  });
  const inFlight = new Tally();
  new Gauge({
    name: 'isthmus_calls_in_flight',
    help: 'Calls that have begun and are not over.',
    labelNames: ['server'],
    registers,
    collect() {
      for (const [server, { count }] of inFlight.counts) this.set({ server }, count);
    },
  });

  return {
    contentType: registry.contentType,
    onHostEvent(event) {
      const { server } = event;
      switch (event.kind) {
        case 'start':
          starts.inc({ server, why: event.why });
          if (event.why !== 'use' && event.why !== 'eager') restarts.inc({ server, why: event.why });
          return;
        case 'ready':
          return spawns.observe({ server }, event.ms / 1000);
        case 'exit':
          return exits.inc({ server, reason: classifyExit(event), phase: event.phase });
        case 'queue':
          if (event.refused) refused.inc({ server, limit: 'processQueue' });
          return;
      }
    },
    onBegin({ server, side }) {
      if (side === 'server') inFlight.add(server, 1);
    },
    onCall(record) {
      const { server, side } = record;
      durations[side].observe(record);
      if (side === 'server') inFlight.add(server, -1);
    },
    onSession({ server, revision, transport, durationMs }) {
      const labels = { server, mcp_protocol_version: revision };
      sessions.observe(transport ? { ...labels, network_transport: transport } : labels, durationMs / 1000);
    },
    onRefused({ server, limit }) {
      refused.inc({ server, limit });
    },
    async render(collect) {
      const status = await collect?.().catch(() => undefined);
      if (status) gauges.set(status);
      else gauges.clear();
      const own = await registry.metrics();
      return ofProcess ? `${own}\n${await processMetrics().metrics()}` : own;
    },
  };
}

/** One for the process: what watches its event loop cannot be ended again. */
function processMetrics(): Registry {
  if (!theProcess) {
    theProcess = new Registry();
    collectDefaultMetrics({ register: theProcess });
  }
  return theProcess;
}

let theProcess: Registry | undefined;

/** Counts along with each call, which a gauge of prom-client takes too long for. */
class Tally {
  readonly counts = new Map<string, { count: number }>();

  add(server: string, by: number): void {
    const known = this.counts.get(server);
    if (known) known.count += by;
    else this.counts.set(server, { count: by });
  }
}
