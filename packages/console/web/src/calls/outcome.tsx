import type { CallRow } from '../../../src/contract.js';
import { span } from '../parts/format.js';
import { plain } from '../parts/text.js';

/** A sign and a word, never a colour alone. */
export function Outcome({ row }: { readonly row: CallRow }) {
  if (row.state !== 'done')
    return (
      <span class="badge info">
        {row.state === 'running' ? '● running' : row.state === 'asking' ? '? asking' : '… waiting'}
      </span>
    );
  const took = row.ms === undefined ? '' : ` ${span(row.ms)}`;
  switch (row.outcome) {
    case 'ok':
      return <span class="badge pass">{`✓ ok${took}`}</span>;
    case 'cancelled':
      return <span class="badge warn">{`■ cancelled${took}`}</span>;
    case 'input_required':
      return <span class="badge info">{`? input required${took}`}</span>;
    case 'tool_error':
      return <span class="badge fail">{`✕ tool error${took}`}</span>;
    default:
      return (
        <span class="badge fail">{`✕ ${plain(row.errorType ?? row.outcome ?? 'ended', 40)}${took}`}</span>
      );
  }
}
