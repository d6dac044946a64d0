import type { Metric, Registry } from 'prom-client';

/**
 * A histogram whose series are looked up once: that of prom-client builds and checks the labels of each value, which
 * takes several times as long as all else that is done for a call. It is rendered by the registry like any other.
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

  /** Whoever asks for the same labels twice has two series of the same name. */
  series(labels: Readonly<Record<string, string>>): Series {
    const series = new Series(labels, this.#bounds);
    this.#series.push(series);
    return series;
  }

  /** What a registry asks its metrics for. */
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
