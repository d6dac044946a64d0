import { EraSign } from '../parts/era.js';
import { clock, count, exact, size, span } from '../parts/format.js';
import { plain } from '../parts/text.js';
import { KINDS, type WireRow } from '../state/rows.js';
import { hello } from '../state/session.js';
import { connections } from '../state/store.js';

export interface TapeRowProps {
  readonly row: WireRow;
  readonly index: number;
  readonly gap: { readonly from: number; readonly to: number; readonly lost: boolean } | undefined;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

export function TapeRow({ row, index, gap, isChosen, onChoose }: TapeRowProps) {
  const connection = connections.peek(row.connection);
  const at = (hello.peek()?.began ?? 0) + row.at;
  const kind = KINDS[row.kind] ?? 'note';
  const isBad = (row.flags & 1) === 1 || kind === 'error';
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid around it takes the keys
    <div
      id={`row-${row.seq}`}
      class={`tape-row is-${kind} ${isBad ? 'bad' : ''} ${gap ? 'after-gap' : ''}`}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isChosen}
      style={{ transform: `translateY(${index * 24}px)` }}
      onClick={onChoose}
    >
      <span class="cell seq" role="gridcell">
        {row.seq}
      </span>
      <span class="cell time" role="gridcell" title={exact(at)}>
        {clock(at)}
      </span>
      <span class="cell way" role="gridcell">
        <span aria-hidden="true">{wayOf(kind, row.direction)}</span>
        <span class="unseen">{row.direction === 0 ? 'to the server' : 'to the client'}</span>
      </span>
      <span class="cell side" role="gridcell">
        {connection?.era && <EraSign era={connection.era} />}
        {connection?.side === 'client' ? 'client' : (connection?.server ?? 'server')}
      </span>
      <span class="cell what" role="gridcell">
        {titleOf(kind, row)}{' '}
        {row.about !== '' && <span class={isText(kind) ? 'gist' : 'about'}>{plain(row.about, 120)}</span>}
        {gap && (
          <span class="gap-note">{`${count(gap.to - gap.from + 1)} frames before this one were left out`}</span>
        )}
      </span>
      <span class="cell id" role="gridcell">
        {row.id === null ? '' : `id ${plain(String(row.id), 20)}`}
      </span>
      <span class="cell call" role="gridcell">
        {row.call === 0 ? '' : `#${row.call}`}
      </span>
      <span class="cell size" role="gridcell">
        {row.bytes > 0 ? size(row.bytes) : ''}
      </span>
      <span class="cell took" role="gridcell">
        {row.took >= 0 ? span(row.took) : ''}
      </span>
    </div>
  );
}

/** A line that is not a message is shown as it begins. */
function isText(kind: string): boolean {
  return kind === 'stderr' || kind === 'noise' || kind === 'process';
}

function wayOf(kind: string, direction: 0 | 1): string {
  if (kind === 'stderr' || kind === 'noise') return '⚑';
  if (kind === 'process' || kind === 'note') return '·';
  return direction === 0 ? '→' : '←';
}

function titleOf(kind: string, { method }: WireRow) {
  const name = method === '' ? '' : plain(method, 80);
  if (kind === 'request' || kind === 'notification') return <strong>{name === '' ? kind : name}</strong>;
  return (
    <>
      <span>{kind === 'noise' ? 'not a message' : kind}</span>{' '}
      {name !== '' && <span class="soft">{name}</span>}
    </>
  );
}
