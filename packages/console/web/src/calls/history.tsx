import type { CallRow } from '../../../src/contract.js';
import { clock, exact, plural } from '../parts/format.js';
import { Panel } from '../parts/layout.js';
import { Outcome } from './outcome.js';

/** The last calls of one thing. */
export function History({
  rows,
  chosen,
  onChoose,
}: {
  readonly rows: readonly CallRow[];
  readonly chosen: number | undefined;
  readonly onChoose: (id: number) => void;
}) {
  if (rows.length < 2) return null;
  return (
    <Panel title="History" side={<span class="soft">{plural(rows.length, 'call')}</span>}>
      <ul class="history">
        {rows.slice(0, 20).map((row) => (
          <li key={row.id}>
            <button type="button" aria-pressed={row.id === chosen} onClick={() => onChoose(row.id)}>
              <span class="history-id">{`#${row.id}`}</span>
              <Outcome row={row} />
              <span class="soft" title={exact(row.began)}>
                {clock(row.began, false)}
              </span>
              {row.lens && <span class="soft">in both eras</span>}
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
