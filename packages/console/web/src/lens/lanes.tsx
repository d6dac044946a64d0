import type { Lens, LensAnswer, LensFrame } from '../../../src/contract.js';
import { EraSign } from '../parts/era.js';
import { span } from '../parts/format.js';
import { plain } from '../parts/text.js';

export interface LanesProps {
  readonly lens: Lens;
  readonly isSwapped: boolean;
  readonly chosen: number | undefined;
  readonly onChoose: (seq: number) => void;
}

/** The frames in the order of time, each in the lane of its side. A number says which rule of the bridge made it. */
export function Lanes({ lens, isSwapped, chosen, onChoose }: LanesProps) {
  const rows = new Map(lens.links.map((link) => [link.to, link.row]));
  const sides = (isSwapped ? (['upstream', 'client'] as const) : (['client', 'upstream'] as const)).filter(
    (side) => lens[side],
  );
  const linked = lens.links.find(({ from, to }) => from === chosen || to === chosen);
  return (
    <div class={`lanes ${sides.length === 1 ? 'one' : ''}`}>
      <div class="lanes-head" aria-hidden="true">
        <span class="soft">ms</span>
        {sides.map((side) => (
          <span key={side} class={`lane-name ${lens[side]!.era}`}>
            <EraSign era={lens[side]!.era} />
            {side === 'client'
              ? `${lens[side]!.era} client ⇄ bridge`
              : `${sides.length === 1 ? 'client' : 'bridge'} ⇄ ${lens[side]!.era} server`}
          </span>
        ))}
      </div>
      <ol class="lane-frames" aria-label="Frames of the call">
        {lens.frames.map((frame, at) => (
          <li key={frame.seq} class={`lane-row ${frame.side === sides[0] ? 'left' : 'right'}`}>
            <span class="lane-at">{frame.at.toFixed(1)}</span>
            <Frame
              frame={frame}
              era={lens[frame.side]?.era}
              row={rows.get(frame.seq)}
              isChosen={frame.seq === linked?.from || frame.seq === linked?.to || frame.seq === chosen}
              onChoose={() => onChoose(frame.seq)}
            />
            {lens.answers
              .filter((answer) => answer.at > frame.at && answer.at <= (lens.frames[at + 1]?.at ?? Infinity))
              .map((answer) => (
                <Answer key={answer.at} answer={answer} />
              ))}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Between the frames: a person answered, and the server waited for it. */
function Answer({ answer: { at, waitedMs, answer } }: { readonly answer: LensAnswer }) {
  return (
    <>
      <span class="lane-at">{at.toFixed(1)}</span>
      <p class="lane-answer">
        {answer === undefined ? (
          'the question was taken back'
        ) : (
          <>
            a person answered <code>{plain(answer, 120)}</code>
          </>
        )}
        <span class="soft"> {`after ${span(waitedMs)}; the call waited`}</span>
      </p>
    </>
  );
}

function Frame({
  frame,
  era,
  row,
  isChosen,
  onChoose,
}: {
  readonly frame: LensFrame;
  readonly era: 'legacy' | 'modern' | undefined;
  readonly row: number | undefined;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}) {
  const isUp = frame.direction === 'to-server';
  const name =
    frame.kind === 'request' || frame.kind === 'notification' ? (frame.method ?? frame.kind) : frame.kind;
  return (
    <button type="button" class={`lane-frame ${era ?? ''}`} aria-pressed={isChosen} onClick={onChoose}>
      <span class="lane-way" aria-hidden="true">
        {isUp ? '→' : '←'}
      </span>
      <span class="lane-what">
        <strong>{plain(name, 80)}</strong>
        {frame.id !== undefined && <span class="soft">{` id ${plain(String(frame.id), 20)}`}</span>}
        <span class="lane-side" aria-hidden="true">
          {era && <EraSign era={era} />}
          {frame.side === 'client' ? 'client' : 'server'}
        </span>
        <span class="unseen">{`, ${frame.side === 'client' ? 'client side' : 'server side'}, ${isUp ? 'to the server' : 'to the client'}`}</span>
        <span class="lane-gist">{plain(frame.gist, 120)}</span>
      </span>
      {row !== undefined && (
        <span class="note-number" title="The row of the table of the bridge">
          <span class="unseen">explained by note </span>
          {row}
        </span>
      )}
    </button>
  );
}
