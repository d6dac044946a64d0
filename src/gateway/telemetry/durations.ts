import { Histogram, type Registry } from 'prom-client';
import { methodFacts } from '../../era/methods.js';
import { BoundedNames } from './bounded-names.js';
import type { CallRecord, Side } from './call-record.js';

/** How long calls took, by what they were; with so few labels that years of calls fit. */
export class CallDurations {
  readonly #histogram: Histogram;
  /** By server. */
  readonly #tools = new Map<string, BoundedNames>();
  readonly #errors = new BoundedNames(MAX_ERRORS);
  readonly #revisions = new BoundedNames(MAX_REVISIONS);

  constructor(side: Side, registry: Registry) {
    const whose =
      side === 'server' ? 'as clients of the gateway see them' : 'as the servers behind it take them';
    this.#histogram = new Histogram({
      name: `mcp_${side}_operation_duration_seconds`,
      help: `Durations of calls, ${whose} (mcp.${side}.operation.duration of OpenTelemetry).`,
      labelNames: LABELS,
      buckets: [...BUCKETS],
      registers: [registry],
    });
  }

  observe(record: CallRecord): void {
    const { server, method, tool, revision, transport, outcome, errorType } = record;
    const labels: Partial<Record<(typeof LABELS)[number], string>> = {
      server,
      // Anybody can call a method that nobody knows.
      mcp_method_name: methodFacts(method) ? method : 'other',
    };
    if (tool !== undefined) labels.gen_ai_tool_name = this.#toolsOf(server).of(tool, outcome === 'ok');
    if (revision !== undefined) labels.mcp_protocol_version = this.#revisions.of(revision, true);
    if (transport !== undefined) labels.network_transport = transport;
    // Servers may answer with whatever code they like.
    if (errorType !== undefined) labels.error_type = this.#errors.of(errorType, true);
    this.#histogram.observe(labels, record.durationMs / 1000);
  }

  #toolsOf(server: string): BoundedNames {
    let names = this.#tools.get(server);
    if (!names) {
      names = new BoundedNames(MAX_TOOLS);
      this.#tools.set(server, names);
    }
    return names;
  }
}

const LABELS = [
  'server',
  'mcp_method_name',
  'gen_ai_tool_name',
  'mcp_protocol_version',
  'error_type',
  'network_transport',
] as const;

/** Those that OpenTelemetry advises, and finer ones below: a call through the bridge takes less than a millisecond. */
export const BUCKETS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
] as const;
const MAX_TOOLS = 200;
const MAX_ERRORS = 50;
const MAX_REVISIONS = 20;
