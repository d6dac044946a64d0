import { series } from '../state/store.js';

/** The last minutes as a line of 60 pixels. The number beside it says the same. */
export function Spark({ server, of }: { readonly server: string; readonly of: 'calls' | 'errors' | 'p95' }) {
  const points = (series.get(server) ?? []).map((point) => point[of] ?? 0).slice(-30);
  if (points.length < 2) return null;
  const most = Math.max(1, ...points);
  const path = points.map(
    (value, at) => `${at === 0 ? 'M' : 'L'}${(at * 60) / (points.length - 1)} ${15 - (13 * value) / most}`,
  );
  return (
    <svg class="spark" viewBox="0 0 60 16" aria-hidden="true">
      <path d={path.join('')} />
    </svg>
  );
}
