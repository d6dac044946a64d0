import type { Registry } from 'prom-client';
import { methodFacts } from '../../era/methods.js';
import { BoundedNames } from './bounded-names.js';
import type { CallRecord, Side } from './call-record.js';
import { PreparedHistogram, type Series } from './prepared-histogram.js';

/** How long calls took, by what they were; with so few labels that years of calls fit. */
export class CallDurations {
  readonly #histogram: PreparedHistogram;
  readonly #servers = new Map<string, OfServer>();
  readonly #errors = new BoundedNames(MAX_ERRORS);
  readonly #revisions = new BoundedNames(MAX_REVISIONS);

  constructor(side: Side, registry: Registry) {
    const whose =
      side === 'server' ? 'as clients of the gateway see them' : 'as the servers behind it take them';
    this.#histogram = new PreparedHistogram(
      `mcp_${side}_operation_duration_seconds`,
      `Durations of calls, ${whose} (mcp.${side}.operation.duration of OpenTelemetry).`,
      BUCKETS,
      registry,
    );
  }

  observe(record: CallRecord): void {
    const { server, tool, revision, transport, outcome, errorType } = record;
    const { tools, series } = this.#ofServer(server);
    // Anybody can call a method that nobody knows, and servers may answer with whatever code they like.
    const method = methodFacts(record.method) ? record.method : 'other';
    const ofTool = tool === undefined ? '' : tools.of(tool, outcome === 'ok');
    const ofRevision = revision === undefined ? '' : this.#revisions.of(revision, true);
    const ofError = errorType === undefined ? '' : this.#errors.of(errorType, true);
    const key = `${method}\n${ofTool}\n${ofRevision}\n${ofError}\n${transport}`;
    let found = series.get(key);
    if (!found) {
      found = this.#histogram.series({
        server,
        mcp_method_name: method,
        ...(ofTool !== '' && { gen_ai_tool_name: ofTool }),
        ...(ofRevision !== '' && { mcp_protocol_version: ofRevision }),
        ...(ofError !== '' && { error_type: ofError }),
        ...(transport !== undefined && { network_transport: transport }),
      });
      series.set(key, found);
    }
    found.observe(record.durationMs / 1000);
  }

  #ofServer(server: string): OfServer {
    let known = this.#servers.get(server);
    if (!known) {
      known = { tools: new BoundedNames(MAX_TOOLS), series: new Map() };
      this.#servers.set(server, known);
    }
    return known;
  }
}

interface OfServer {
  readonly tools: BoundedNames;
  readonly series: Map<string, Series>;
}

/** Those that OpenTelemetry advises, and finer ones below: a call through the bridge takes less than a millisecond. */
export const BUCKETS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
] as const;
const MAX_TOOLS = 200;
const MAX_ERRORS = 50;
const MAX_REVISIONS = 20;
