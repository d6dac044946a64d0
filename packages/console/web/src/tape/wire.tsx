import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask } from '../api.js';
import { Button, Filter, Select } from '../parts/controls.js';
import { count } from '../parts/format.js';
import { Problem } from '../parts/states.js';
import { plain } from '../parts/text.js';
import { to } from '../state/route.js';
import { KINDS } from '../state/rows.js';
import { isGateway } from '../state/session.js';
import { connections, rows } from '../state/store.js';
import { FramePane } from './frame-view.js';
import { SaveTrace } from './save-trace.js';
import { Tape } from './tape.js';

export interface WireProps {
  /** The number of the frame that is shown. */
  readonly chosen: number | undefined;
  readonly onChoose: (seq: number | undefined) => void;
  /** Only the frames of this call. */
  readonly call?: number | undefined;
  readonly isSmall?: boolean;
}

/** The tape with its filters, and the frame that is chosen. */
export function Wire({ chosen, onChoose, call, isSmall }: WireProps) {
  const [text, setText] = useState('');
  const [kind, setKind] = useState('');
  const [way, setWay] = useState('');
  const [lane, setLane] = useState('');
  const [isPaused, setPaused] = useState(false);
  const [isFollowing, setFollowing] = useState(chosen === undefined);
  const [search, setSearch] = useState<Search>({ text: '' });
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (chosen !== undefined) setFollowing(false);
  }, [chosen]);
  void rows.version.value;
  const all = connections.all.value;
  const lanes = useMemo(() => connectionsOf(lane), [lane, all.length]);
  const filter = useMemo(
    () => ({
      ...{ text, kind, call, connections: lanes, found: search.found },
      direction: way === '' ? undefined : (Number(way) as 0 | 1),
    }),
    [text, kind, call, lanes, search.found, way],
  );
  const find = async () => {
    setError(undefined);
    try {
      setSearch({ text: search.text, ...(search.text !== '' && { found: await findFrames(search.text) }) });
    } catch (caught) {
      setError(caught);
    }
  };
  const isFiltered = text !== '' || kind !== '' || way !== '' || lane !== '' || search.found !== undefined;
  const clear = () => {
    setText('');
    setKind('');
    setWay('');
    setLane('');
    setSearch({ text: '' });
  };
  return (
    <div class={`wire ${chosen === undefined ? '' : 'has-frame'}`}>
      <div class="wire-bar">
        <Filter label="Filter by method, name or id" value={text} onInput={setText} />
        {!isSmall && (
          <>
            <Select
              label="Lane"
              isLabelSeen={false}
              value={lane}
              onChange={setLane}
              choices={laneChoices()}
            />
            <Select
              label="Direction"
              isLabelSeen={false}
              value={way}
              onChange={setWay}
              choices={[
                { value: '', say: 'both ways' },
                { value: '0', say: '→ to server' },
                { value: '1', say: '← to client' },
              ]}
            />
            <Select
              label="Kind"
              isLabelSeen={false}
              value={kind}
              onChange={setKind}
              choices={[
                { value: '', say: 'all kinds' },
                ...KINDS.map((each) => ({ value: each, say: each })),
              ]}
            />
            <input
              type="search"
              aria-label="Search in the bodies"
              placeholder="search in bodies ⏎"
              value={search.text}
              onInput={(event) => setSearch({ ...search, text: event.currentTarget.value })}
              onKeyDown={(event) => {
                if (event.key === 'Enter') void find();
              }}
            />
          </>
        )}
        <Button pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Pause'}
        </Button>
        {isFiltered && <Button onClick={clear}>Clear the filter</Button>}
        {!isSmall && <SaveTrace call={call} />}
        <span class="soft wire-count" role="status">
          {isPaused ? 'paused · ' : isFollowing ? 'follows · ' : ''}
          {`${count(rows.end - rows.first)} frames`}
          {rows.first > 0 && ` of ${count(rows.end)}`}
        </span>
      </div>
      <Problem error={error} />
      <div class="wire-panes">
        <Tape
          filter={filter}
          isPaused={isPaused}
          chosen={chosen}
          onChoose={onChoose}
          isFollowing={isFollowing && !isPaused}
          onFollowing={setFollowing}
          label={call === undefined ? 'Frames' : `Frames of call ${call}`}
        />
        {chosen !== undefined && (
          <FramePane seq={chosen} onChoose={onChoose} onClose={() => onChoose(undefined)} />
        )}
      </div>
      {rows.end === 0 && (
        <p class="soft wire-empty">
          {isGateway() ? (
            <>
              No frame yet. Messages of clients are not kept until somebody records them:{' '}
              <a href={to()}>start a recording below the servers</a>. The calls of this page come here by
              themselves.
            </>
          ) : (
            'No frame yet. What is sent and received comes here, with its exact bytes.'
          )}
        </p>
      )}
    </div>
  );
}

interface Search {
  readonly text: string;
  readonly found?: ReadonlySet<number>;
}

/** The process looks for 50 ms at a time. */
async function findFrames(find: string): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  let after = 0;
  for (let turn = 0; turn < 200; turn += 1) {
    const page = await ask('GET frames', { query: { find, after } });
    for (const row of page.rows) found.add(row[0]);
    if (page.searched >= page.last || page.searched <= after) break;
    after = page.searched;
  }
  return found;
}

function laneChoices() {
  const servers = [
    ...new Set(connections.all.value.map(({ server }) => server).filter((each) => each !== undefined)),
  ];
  return [
    { value: '', say: 'all lanes' },
    { value: 'upstream', say: 'server side' },
    { value: 'client', say: 'client side' },
    ...servers.slice(0, 200).map((server) => ({ value: `server ${server}`, say: plain(server, 60) })),
  ];
}

function connectionsOf(lane: string): ReadonlySet<number> | undefined {
  if (lane === '') return undefined;
  const fits = connections.all
    .peek()
    .filter(({ side, server }) => (lane.startsWith('server ') ? server === lane.slice(7) : side === lane));
  return new Set(fits.map(({ id }) => id));
}
