import { methodFacts } from '@isthmus/sdk/internal/era/methods.js';
import type { Metric, Registry } from 'prom-client';
import type { CallRecord, TelemetrySide } from './call-record.js';

/** Durations of calls by method, tool and outcome. The number of label values is bounded, so that memory does not grow. */
export class CallDurations {
  readonly #histogram: PreparedHistogram;
  readonly #servers = new Map<string, OfServer>();
  /** The last call that succeeded, and its series. Most calls are like the one before. */
  #last: { readonly record: CallRecord; readonly series: Series } | undefined;
  readonly #errors = new BoundedNames(MAX_ERRORS);
  readonly #revisions = new BoundedNames(MAX_REVISIONS);

  constructor(side: TelemetrySide, registry: Registry) {
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
    const last = this.#last;
    const series = last && isAlike(last.record, record) ? last.series : this.#seriesOf(record);
    series.observe(record.durationMs / 1000);
  }

  #seriesOf(record: CallRecord): Series {
    const { server, tool, revision, transport, outcome, errorType } = record;
    const { tools, series } = this.#ofServer(server);
    // Clients can call any method, and servers can answer with any code, so both are bounded.
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
    // Once a call of a tool has succeeded, the name of the tool stays what it is in the metrics.
    if (outcome === 'ok') this.#last = { record, series: found };
    return found;
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

/** Whether both belong to the same series. */
function isAlike(a: CallRecord, b: CallRecord): boolean {
  return (
    a.tool === b.tool &&
    a.method === b.method &&
    a.outcome === b.outcome &&
    a.revision === b.revision &&
    a.server === b.server &&
    a.transport === b.transport &&
    a.errorType === b.errorType
  );
}

interface OfServer {
  readonly tools: BoundedNames;
  readonly series: Map<string, Series>;
}

/** The buckets that OpenTelemetry recommends, and finer ones, because a call through the bridge takes less than 1 ms. */
export const BUCKETS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
] as const;
const MAX_TOOLS = 200;
const MAX_ERRORS = 50;
const MAX_REVISIONS = 20;

/** Label values that clients and servers choose. Their number is bounded; the rest is `other`. */
export class BoundedNames {
  readonly #most: number;
  readonly #known = new Set<string>();
  /** Names that have not succeeded yet. A client can call names that do not exist. */
  readonly #unproven = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the name or `other`. `proven`: the name exists, because a call of it succeeded. */
  of(name: string, proven: boolean): string {
    if (this.#known.has(name)) return name;
    if (name.length > LONGEST) return OTHER;
    if (proven) {
      if (this.#known.size >= this.#most) return OTHER;
      this.#known.add(name);
      this.#unproven.delete(name);
      return name;
    }
    if (this.#unproven.has(name)) return name;
    // A few names without success are kept, so that a tool that never worked is visible. They cannot displace real names.
    const left = Math.min(Math.ceil(this.#most / 10), this.#most - this.#known.size);
    if (this.#unproven.size >= left) return OTHER;
    this.#unproven.add(name);
    return name;
  }
}

const OTHER = 'other';
const LONGEST = 128;

/**
 * A histogram whose series are looked up once. The histogram of prom-client builds and checks the labels of each value,
 * which costs several times as much as all other telemetry of a call. The registry renders this one like any other.
 */
export class PreparedHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #bounds: readonly number[];
  readonly #series: Series[] = [];

  constructor(name: string, help: string, bounds: readonly number[], registry: Registry) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
    registry.registerMetric(this as unknown as Metric);
  }

  /** Adds a series. The caller must not ask for the same labels twice. */
  series(labels: Readonly<Record<string, string>>): Series {
    const series = new Series(labels, this.#bounds);
    this.#series.push(series);
    return series;
  }

  /** Called by the registry. */
  async get() {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.#series.flatMap((series) => series.samples(name)) };
  }
}

export class Series {
  readonly #labels: Readonly<Record<string, string>>;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > bounds[at]!) at += 1;
    this.#counts[at]! += 1;
    this.#sum += value;
  }

  samples(name: string): Sample[] {
    const labels = this.#labels;
    let count = 0;
    const buckets = this.#counts.map((each, index) => {
      count += each;
      const le = String(this.#bounds[index] ?? '+Inf');
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
