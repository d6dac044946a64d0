import { go, place, to } from '../state/route.js';
import { Wire } from '../tape/wire.js';

/** Every frame with its exact bytes. `#/frame/1042` shows one of them. */
export function WireScreen() {
  const { parts, query } = place.value;
  const seq = parts[0] === 'frame' ? Number(parts[1]) : undefined;
  const call = Number(query['call'] ?? 0) || undefined;
  return (
    <div class="screen-fill">
      <h1 tabIndex={-1} class="unseen">
        Wire
      </h1>
      <Wire
        chosen={Number.isSafeInteger(seq) ? seq : undefined}
        call={call}
        onChoose={(next) => {
          const base = next === undefined ? to('wire') : to('frame', next);
          go(call === undefined ? base : `${base}?call=${call}`);
        }}
      />
    </div>
  );
}
