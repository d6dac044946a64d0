import { useEffect, useState } from 'preact/hooks';
import type { FrameView, Lens, LensLink } from '../../../src/contract.js';
import { ask } from '../api.js';
import { tryRaw } from '../json/raw.js';
import { EraSign } from '../parts/era.js';
import { JsonTree } from '../parts/json-tree.js';
import { Panel, Wide } from '../parts/layout.js';
import { Loading, Problem } from '../parts/states.js';
import { plain, Text } from '../parts/text.js';
import { to } from '../state/route.js';

/** A frame and what became of it, side by side, with every difference marked and explained. */
export function LinkPane({ lens, link }: { readonly lens: Lens; readonly link: LensLink }) {
  const [state, setState] = useState<{ readonly frames?: readonly FrameView[]; readonly error?: unknown }>(
    {},
  );
  useEffect(() => {
    let isOver = false;
    Promise.all([link.from, link.to].map((seq) => ask('GET frames/:seq', { path: [seq] }))).then(
      (frames) => isOver || setState({ frames }),
      (error) => isOver || setState({ error }),
    );
    return () => {
      isOver = true;
    };
  }, []);
  const note = lens.notes.find(({ row }) => row === link.row);
  const sideOf = (seq: number) => lens.frames.find((frame) => frame.seq === seq)?.side ?? 'client';
  return (
    <Panel
      label="Differences"
      title={`Frame ${link.from} became frame ${link.to}`}
      side={
        <span class="soft">
          {link.differences.length === 0
            ? 'they are of different kinds'
            : `${link.differences.length} differences`}
        </span>
      }
    >
      {note && <p>{note.say}</p>}
      <Problem error={state.error} />
      {!state.frames && state.error === undefined && <Loading what="Reading both frames" />}
      {state.frames && (
        <div class="pair">
          {state.frames.map((frame) => {
            const side = sideOf(frame.seq);
            const era = lens[side]?.era;
            const raw = tryRaw(frame.text);
            const marks = link.differences
              .filter((each) => each.in === 'both' || each.in === side)
              .map(({ pointer }) => pointer);
            return (
              <div key={frame.seq} class={`pair-side ${era ?? ''}`}>
                <h3>
                  {era && <EraSign era={era} />}
                  <a href={to('frame', frame.seq)}>{`frame ${frame.seq}`}</a>
                  <span class="soft">{side === 'client' ? 'client side' : 'server side'}</span>
                </h3>
                {raw ? (
                  <JsonTree raw={raw} marks={new Set(marks)} open={2} label={`Frame ${frame.seq}`} />
                ) : (
                  <pre class="bytes">
                    <Text of={frame.text} />
                  </pre>
                )}
              </div>
            );
          })}
        </div>
      )}
      {link.differences.length > 0 && (
        <Wide label="Differences, table">
          <table class="differences">
            <thead>
              <tr>
                <th>where</th>
                <th>which side has it</th>
                <th>why</th>
              </tr>
            </thead>
            <tbody>
              {link.differences.map(({ pointer, in: where, say, row }) => (
                <tr key={pointer}>
                  <td>
                    <code>{plain(pointer, 200)}</code>
                  </td>
                  <td class="nowrap">
                    {where === 'both'
                      ? 'both, with other values'
                      : where === 'client'
                        ? 'client side'
                        : 'server side'}
                  </td>
                  <td>
                    <span class="note-number">{row}</span> {say}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </Panel>
  );
}
