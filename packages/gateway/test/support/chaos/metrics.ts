/** What `/metrics` counts: by name, and by server. */
export type Metrics = ReadonlyMap<string, ReadonlyMap<string, number>>;

export async function readMetrics(origin: string): Promise<Metrics> {
  const response = await fetch(`${origin}/metrics`);
  const metrics = new Map<string, Map<string, number>>();
  for (const line of (await response.text()).split('\n')) {
    const [, name, server, value] = /^(\w+)\{server="([^"]*)"\} (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const known = metrics.get(name) ?? new Map<string, number>();
    metrics.set(name, known.set(server!, Number(value)));
  }
  return metrics;
}

export function total(metrics: Metrics, name: string): number {
  return [...(metrics.get(name)?.values() ?? [])].reduce((sum, each) => sum + each, 0);
}
