import { useEffect, useState } from 'preact/hooks';
import type { Lens } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Outcome } from '../calls/outcome.js';
import { Button } from '../parts/controls.js';
import { Era } from '../parts/era.js';
import { plural } from '../parts/format.js';
import { Panel } from '../parts/layout.js';
import { Empty, Loading, Problem } from '../parts/states.js';
import { useKeys } from '../parts/use-keys.js';
import { QuestionCard } from '../questions/question-card.js';
import { beginCall, cancelCall, detailOf } from '../state/calls.js';
import { go, to } from '../state/route.js';
import { isGateway, may } from '../state/session.js';
import { calls, questions } from '../state/store.js';
import { Lanes } from './lanes.js';
import { LinkPane } from './link-pane.js';

/** One call on both sides of the bridge, frame by frame, with what differs and why. */
export function LensView({ id }: { readonly id: number }) {
  const row = calls.get(id);
  const open = questions.all.value.filter((question) => question.call === id);
  const [state, setState] = useState<{ readonly lens?: Lens; readonly error?: unknown }>({});
  const [chosen, setChosen] = useState<number | undefined>();
  const [isSwapped, setSwapped] = useState(false);
  const phase = `${row?.state} ${open.length}`;
  useEffect(() => {
    let isOver = false;
    ask('GET calls/:id/lens', { path: [id] }).then(
      (lens) => isOver || setState({ lens }),
      (error) => isOver || setState({ error }),
    );
    return () => {
      isOver = true;
    };
  }, [id, phase]);
  useKeys([
    { keys: 'x', say: 'Swap the lanes', run: () => setSwapped(!isSwapped) },
    {
      keys: '.',
      say: 'Cancel the call',
      run: () => (row?.state === 'done' || !may('act') ? false : void cancelCall(id).catch(() => {})),
    },
  ]);
  const { lens, error } = state;
  const hasBoth = lens?.client !== undefined && lens.upstream !== undefined;
  const link =
    lens?.links.find(({ from, to: end }) => from === chosen || end === chosen) ??
    (hasBoth ? lens.links[0] : undefined);
  return (
    <div class="stack wide-gap">
      <Problem error={error} />
      {open.map((question) => (
        <QuestionCard key={question.id} question={question} />
      ))}
      {!lens && error === undefined && <Loading what="Reading the frames of the call" />}
      {lens && lens.frames.length === 0 && (
        <Empty title="No frame of this call is kept.">
          {isGateway()
            ? 'Nothing was recorded while it ran. Turn a recording on, and call it again.'
            : 'The ring has lost them: newer frames took their place.'}
        </Empty>
      )}
      {lens && lens.frames.length > 0 && (
        <Panel
          label="Lens"
          title={<Title lens={lens} />}
          side={
            <>
              {row && <Outcome row={row} />}
              {hasBoth && (
                <Button kind="quiet" keys="x" onClick={() => setSwapped(!isSwapped)}>
                  Swap
                </Button>
              )}
            </>
          }
        >
          {!hasBoth && <OneSide id={id} lens={lens} />}
          {lens.leftOut > 0 && (
            <p class="soft">
              {`${plural(lens.leftOut, 'frame')} that ask for the state of the task and get the same answer are left out. `}
              <a href={to('wire')}>The wire has them</a>
            </p>
          )}
          <Lanes lens={lens} isSwapped={isSwapped} chosen={chosen ?? link?.from} onChoose={setChosen} />
          {lens.notes.length > 0 && (
            <ol class="notes" aria-label="Why they differ">
              {lens.notes.map(({ row: number, say }) => (
                <li key={number}>
                  <span class="note-number">{number}</span>
                  <span>{say}</span>
                </li>
              ))}
            </ol>
          )}
        </Panel>
      )}
      {lens && link && <LinkPane key={`${link.from}-${link.to}`} lens={lens} link={link} />}
    </div>
  );
}

function Title({ lens }: { readonly lens: Lens }) {
  if (!lens.client || !lens.upstream) return <>One call, frame by frame</>;
  return (
    <span class="lens-title">
      asked in <Era era={lens.client.era} revision={lens.client.revision} /> carried to{' '}
      <Era era={lens.upstream.era} revision={lens.upstream.revision} />
      {lens.sameEra && (
        <span class="soft">Both sides speak one era: only ids, envelopes and times differ.</span>
      )}
    </span>
  );
}

/** The call was made in the era of the server: the other side is one click away. */
function OneSide({ id, lens }: { readonly id: number; readonly lens: Lens }) {
  const { detail } = detailOf(id).value;
  const [error, setError] = useState<unknown>();
  const era = (lens.client ?? lens.upstream)?.era;
  const again = async () => {
    if (detail?.params === undefined) return;
    const { method, params, server } = detail;
    try {
      go(
        to(
          'call',
          await beginCall({ method, params, lens: true, ...(server !== undefined && { server }) }),
          'lens',
        ),
      );
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <div class="one-side">
      <p>
        There is one side only, {era ? <Era era={era} /> : 'of one era'}
        {isGateway()
          ? '. The messages with the server are kept while a recording runs.'
          : ': the call was made in the era of the server.'}
      </p>
      {may('act') && detail?.params !== undefined && detail.own && (
        <Button kind="primary" onClick={again}>
          Call in both eras
        </Button>
      )}
      <Problem error={error} />
    </div>
  );
}
