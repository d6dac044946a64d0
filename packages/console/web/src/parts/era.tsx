import type { EraName } from '../../../src/contract.js';

/** Violet and square is legacy, teal and round is modern, and nothing else has these colours and signs. */
export function Era({
  era,
  revision,
}: {
  readonly era: EraName | undefined;
  readonly revision?: string | undefined;
}) {
  if (era === undefined) return <span class="soft">—</span>;
  return (
    <span class={`era ${era}`}>
      <EraSign era={era} />
      {era}
      {revision && <span class="revision">{revision}</span>}
    </span>
  );
}

export function EraSign({ era }: { readonly era: EraName }) {
  return (
    <svg class={`era-sign ${era}`} viewBox="0 0 12 12" aria-hidden="true">
      {era === 'legacy' ? (
        <rect x="1.5" y="1.5" width="9" height="9" rx="1.5" />
      ) : (
        <circle cx="6" cy="6" r="4.6" />
      )}
    </svg>
  );
}
