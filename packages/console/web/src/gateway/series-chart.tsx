import { useEffect, useState } from 'preact/hooks';
import type { SeriesView } from '../../../src/contract.js';
import { ask } from '../api.js';
import { clock, count, plural, span } from '../parts/format.js';
import { Panel } from '../parts/layout.js';
import { series } from '../state/store.js';

/** Calls, errors and p95 of the last quarter of an hour, in steps of 5 s. */
export function SeriesChart({ server }: { readonly server: string }) {
  const [view, setView] = useState<SeriesView | undefined>();
  const last = series.get(server)?.at(-1)?.at;
  useEffect(() => {
    ask('GET series', { query: { server, from: Date.now() - 900_000 } }).then(setView, () => {});
  }, [server, last]);
  const total = view?.calls.reduce((sum, each) => sum + each, 0) ?? 0;
  if (!view || total === 0) return null;
  const failed = view.errors.reduce((sum, each) => sum + each, 0);
  const slow = Math.max(0, ...view.p95.map((each) => each ?? 0));
  return (
    <Panel
      title="The last 15 minutes"
      side={
        <span class="soft">{`${count(total)} calls · ${count(failed)} failed · p95 at most ${span(slow)}`}</span>
      }
    >
      <Bars view={view} />
    </Panel>
  );
}

const WIDTH = 900;
const HEIGHT = 72;

function Bars({ view }: { readonly view: SeriesView }) {
  const most = Math.max(1, ...view.calls);
  const wide = WIDTH / Math.max(1, view.calls.length);
  const bar = (value: number) => (value * (HEIGHT - 2)) / most;
  return (
    <figure class="series">
      <svg
        class="series-chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Calls in steps of ${view.stepMs / 1000} s, at most ${most} in one step`}
      >
        {view.calls.map((calls, at) => {
          const errors = view.errors[at] ?? 0;
          const x = at * wide;
          return calls === 0 ? null : (
            <g key={at}>
              <rect
                class="calls"
                x={x}
                width={Math.max(1, wide - 1)}
                y={HEIGHT - bar(calls)}
                height={bar(calls)}
              />
              {errors > 0 && (
                <rect
                  class="errors"
                  x={x}
                  width={Math.max(1, wide - 1)}
                  y={HEIGHT - bar(errors)}
                  height={bar(errors)}
                />
              )}
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{clock(view.from, false)}</span>
        <span>{`at most ${plural(most, 'call')} in ${view.stepMs / 1000} s`}</span>
        <span>{clock(view.from + view.calls.length * view.stepMs, false)}</span>
      </figcaption>
    </figure>
  );
}
