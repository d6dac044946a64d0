import type { TimingRow } from '../contract.js';
import { tenth } from '../frames/ring.js';
import type { CallEntry } from '../stores/call-store.js';

/** How long the calls took, by tool, prompt or method. */
export function timingOf(entries: Iterable<CallEntry>, server: string | undefined): TimingRow[] {
  const groups = new Map<string, { name: string; method: string; points: TimingRow['points'][number][] }>();
  for (const { row } of entries) {
    if (row.ms === undefined || (server !== undefined && row.server !== server)) continue;
    const name = row.tool ?? row.prompt ?? row.uri ?? row.method;
    const key = JSON.stringify([row.method, name]);
    const group = groups.get(key) ?? { name, method: row.method, points: [] };
    groups.set(key, group);
    const failed = row.outcome === 'ok' || row.outcome === 'input_required' ? 0 : 1;
    group.points.push([row.began, tenth(row.ms), failed, row.id]);
  }
  return [...groups.values()].map(({ name, method, points }) => {
    const sorted = points.map(([, ms]) => ms).sort((a, b) => a - b);
    return {
      ...{ name, method, points, calls: points.length },
      errors: points.filter(([, , failed]) => failed === 1).length,
      p50: quantile(sorted, 0.5),
      p95: quantile(sorted, 0.95),
      p99: quantile(sorted, 0.99),
    };
  });
}

/** The smallest value that this share of all values does not exceed. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
