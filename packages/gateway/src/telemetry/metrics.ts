import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import type { HostStatus } from '@isthmus/sdk/internal/host/status.js';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CallRecord, SessionRecord, TelemetrySide } from './call-record.js';
import { BUCKETS, CallDurations } from './durations.js';

export interface MetricsOptions {
  /** Also the memory, CPU time and event loop of this process. Default true. */
  readonly process?: boolean;
}

/** The metrics of `/metrics`. The functions do not need `this`. */
export interface Metrics {
  /** The content type of what `render` returns. */
  readonly contentType: string;
  readonly onHostEvent: (event: HostEvent) => void;
  readonly onBegin: (begun: { readonly server: string; readonly side: TelemetrySide }) => void;
  readonly onCall: (record: CallRecord) => void;
  readonly onSession: (record: SessionRecord) => void;
  /** A call was refused because of this limit. */
  readonly onRefused: (refusal: { readonly server: string; readonly limit: string }) => void;
  /** A message of a server, or for it, could not be carried. */
  readonly onDropped: (dropped: { readonly server: string }) => void;
  /** The text for Prometheus. `collect` reads the current state of the servers; if it fails, those gauges are left out. */
  readonly render: (collect?: () => Promise<HostStatus>) => Promise<string>;
}

/** Has its own registry, so that one process can have several. */
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
  const dropped = counter('isthmus_dropped_total', 'Messages of a server that could not be carried on.', [
    'server',
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
    onDropped({ server }) {
      dropped.inc({ server });
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

/** One for the process, because the event loop monitor of prom-client cannot be stopped. */
function processMetrics(): Registry {
  if (!theProcess) {
    theProcess = new Registry();
    collectDefaultMetrics({ register: theProcess });
  }
  return theProcess;
}

let theProcess: Registry | undefined;

/** Counts the calls in flight. A gauge of prom-client would be too slow for each call. */
class Tally {
  readonly counts = new Map<string, { count: number }>();

  add(server: string, by: number): void {
    const known = this.counts.get(server);
    if (known) known.count += by;
    else this.counts.set(server, { count: by });
  }
}

/** Why a process ended, as a label with few values. */
type ExitReason = 'told' | 'cannot_start' | 'signal' | 'exit_zero' | 'exit_error' | 'other';

/** Reads the sentences that the sdk makes for an exit. The stderr output after them can contain anything, so it is cut off. */
function classifyExit({ expected, reason }: HostEvent & { readonly kind: 'exit' }): ExitReason {
  if (expected) return 'told';
  const [sentence = ''] = reason.split('; last stderr:', 1);
  if (/ could not be started\b/.test(sentence)) return 'cannot_start';
  if (/ was ended by SIG[A-Z0-9]+ after /.test(sentence)) return 'signal';
  const code = / stopped with code (\d+) after /.exec(sentence)?.[1];
  if (code === undefined) return 'other';
  return code === '0' ? 'exit_zero' : 'exit_error';
}

/** Gauges of the host. They are set from its status on each scrape, and not counted with each event. */
interface HostGauges {
  set(status: HostStatus): void;
  /** The values are not known now, so the gauges are left out. */
  clear(): void;
}

function createHostGauges(registry: Registry): HostGauges {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['server'], registers: [registry] });
  const ready = gauge('isthmus_server_ready', 'Whether a process of the current generation has answered.');
  const processes = gauge('isthmus_server_processes', 'Processes of the server that live.');
  const crashLoops = gauge(
    'isthmus_server_crash_loops',
    'Processes that ended too often and are not started again.',
  );
  const queue = gauge('isthmus_server_queue_depth', 'Calls that wait for a process.');
  const parked = gauge('isthmus_server_calls_parked', 'Calls that wait for an answer to a question.');
  const maxParked = gauge(
    'isthmus_server_calls_parked_max',
    'How many calls may wait for an answer to a question, in one process.',
  );
  const rss = gauge(
    'isthmus_server_rss_bytes',
    'Memory of the processes of the server, with their children.',
  );
  const all = [ready, processes, crashLoops, queue, parked, maxParked, rss];
  const clear = () => {
    for (const each of all) each.reset();
  };
  return {
    clear,
    set({ servers }) {
      clear();
      for (const [server, status] of Object.entries(servers)) {
        const known = status.processes;
        ready.set({ server }, status.ready ? 1 : 0);
        processes.set({ server }, known.filter(({ pid }) => pid !== undefined).length);
        crashLoops.set({ server }, known.filter(({ state }) => state === 'crash-loop').length);
        queue.set({ server }, status.queued);
        parked.set({ server }, status.parked);
        maxParked.set({ server }, status.maxParked);
        const sizes = known.flatMap(({ facts }) => facts?.rssBytes ?? []);
        // Not every operating system reports the memory.
        if (sizes.length > 0)
          rss.set(
            { server },
            sizes.reduce((total, each) => total + each, 0),
          );
      }
    },
  };
}
