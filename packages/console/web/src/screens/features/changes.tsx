import { clock } from '../../parts/format.js';
import { plain } from '../../parts/text.js';
import type { ListChanges } from '../../state/lists.js';

/** What the last reading of a list changed. */
export function Changes({ changes }: { readonly changes: ListChanges | undefined }) {
  if (!changes) return null;
  const words = (['added', 'removed', 'altered'] as const)
    .filter((what) => changes[what].length > 0)
    .map(
      (what) =>
        `${what}: ${changes[what]
          .slice(0, 5)
          .map((name) => plain(name, 40))
          .join(', ')}${changes[what].length > 5 ? ' …' : ''}`,
    );
  return (
    <p class="changes" role="status">
      {`${clock(changes.at, false)} ${words.join(' · ')}`}
    </p>
  );
}
