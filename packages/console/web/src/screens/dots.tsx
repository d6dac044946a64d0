import type { TimingRow } from '../../../src/contract.js';
import { clock, span } from '../parts/format.js';

/** The units of the drawing. It is drawn for a phone, too, so that its words can be read there. */
const WIDTHS = { wide: 800, narrow: 380 };
const HEIGHT = 220;
const LEFT = 56;
const BOTTOM = 22;

/** Every call a dot: when it began, and how long it took, on a logarithmic scale. The table below says the same in numbers. */
export function Dots({ rows }: { readonly rows: readonly TimingRow[] }) {
  const width = matchMedia('(max-width: 46rem)').matches ? WIDTHS.narrow : WIDTHS.wide;
  const points = rows.flatMap((row) => row.points).slice(-2000);
  const times = points.map(([began]) => began);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const longest = Math.max(1, ...points.map(([, ms]) => ms));
  const top = 10 ** Math.ceil(Math.log10(longest));
  const bottom = 0.1;
  const x = (began: number) => LEFT + ((width - LEFT - 12) * (began - first)) / Math.max(1, last - first) + 4;
  const y = (ms: number) => {
    const share = Math.log10(Math.max(bottom, ms) / bottom) / Math.log10(top / bottom);
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - 12);
  };
  const lines = Array.from(
    { length: Math.round(Math.log10(top / bottom)) + 1 },
    (_, at) => bottom * 10 ** at,
  );
  return (
    <svg
      class="dots-chart"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={`${points.length} calls, the longest took ${span(longest)}`}
    >
      {lines.map((ms) => (
        <g key={ms}>
          <line x1={LEFT} x2={width} y1={y(ms)} y2={y(ms)} />
          <text x={LEFT - 8} y={y(ms) + 4} text-anchor="end">
            {span(ms)}
          </text>
        </g>
      ))}
      <text x={LEFT} y={HEIGHT - 4}>
        {clock(first, false)}
      </text>
      <text x={width} y={HEIGHT - 4} text-anchor="end">
        {clock(last, false)}
      </text>
      {points.map(([began, ms, failed, call]) =>
        failed === 1 ? (
          <path key={call} class="failed" d={`M${x(began) - 3.5} ${y(ms) - 3.5}l7 7m0 -7l-7 7`} />
        ) : (
          <circle key={call} cx={x(began)} cy={y(ms)} r="3" />
        ),
      )}
    </svg>
  );
}
