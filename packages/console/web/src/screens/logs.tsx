import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { LogLevelName, LogRow } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button, Filter, Select } from '../parts/controls.js';
import { clock, exact } from '../parts/format.js';
import { Empty, Problem } from '../parts/states.js';
import { plain, Text } from '../parts/text.js';
import { chosenIn, to } from '../state/route.js';
import { isGateway, may } from '../state/session.js';
import { logs, status } from '../state/store.js';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const SOURCES = ['log', 'stderr', 'process'];
const SHOWN = 300;

/** Log messages, stderr and what happened to the process, on one tape. */
export function Logs({ server: fixed }: { readonly server: string | undefined }) {
  const [text, setText] = useState('');
  const [source, setSource] = chosenIn('source', SOURCES);
  const [level, setLevel] = chosenIn('level', LEVELS);
  const [server, setServer] = useState('');
  const [isFollowing, setFollowing] = useState(true);
  const wanted = fixed ?? (server === '' ? undefined : server);
  const all = logs.all.value;
  const shown = useMemo(
    () =>
      all
        .filter((row) => fits(row, { text: text.toLowerCase(), source, level, server: wanted }))
        .slice(-SHOWN),
    [all, text, source, level, wanted],
  );
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [shown, isFollowing]);
  return (
    <div class="screen-fill logs">
      <div class="wire-bar">
        <h1 tabIndex={-1}>Logs</h1>
        <Filter label="Filter the logs" value={text} onInput={setText} />
        <Select
          label="Source"
          isLabelSeen={false}
          value={source}
          onChange={setSource}
          choices={[
            { value: '', say: 'all sources' },
            { value: 'log', say: 'messages of the server' },
            { value: 'stderr', say: 'stderr' },
            { value: 'process', say: 'process' },
          ]}
        />
        <Select
          label="Level"
          isLabelSeen={false}
          value={level}
          onChange={setLevel}
          choices={[
            { value: '', say: 'all levels' },
            ...LEVELS.map((value) => ({ value, say: `from ${value}` })),
          ]}
        />
        {isGateway() && fixed === undefined && (
          <Select
            label="Server"
            isLabelSeen={false}
            value={server}
            onChange={setServer}
            choices={[
              { value: '', say: 'all servers' },
              ...(status.value?.servers ?? []).map(({ name }) => ({ value: name, say: plain(name, 60) })),
            ]}
          />
        )}
        {!isGateway() && may('act') && <ServerLevel />}
        <Button pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
          Follow
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard */}
      <div class="log-box" ref={box} tabIndex={0} role="log" aria-label="Log lines" aria-live="off">
        {shown.map((row) => (
          <Line key={row.number} row={row} hasServer={isGateway() && fixed === undefined} />
        ))}
        {shown.length === 0 && (
          <Empty title={all.length === 0 ? 'No line yet.' : 'No line fits the filter.'}>
            {all.length === 0
              ? 'What the server writes to stderr, its log messages, and what happens to its process come here.'
              : 'Clear the filter to see all lines.'}
          </Empty>
        )}
      </div>
    </div>
  );
}

function Line({ row, hasServer }: { readonly row: LogRow; readonly hasServer: boolean }) {
  const isBad = LEVELS.indexOf(row.level ?? '') >= 4;
  const isOdd = row.level === 'warning';
  return (
    <div class={`log-line ${row.source} ${isBad ? 'bad' : isOdd ? 'odd-line' : ''}`}>
      <span class="soft" title={exact(row.at)}>
        {clock(row.at)}
      </span>
      <span class="soft log-source">
        {hasServer && row.server !== undefined && `${plain(row.server, 40)} `}
        {row.source === 'log' ? plain(row.level ?? 'log', 40) : row.source}
      </span>
      <span>
        {row.missed !== undefined && row.missed > 0 && (
          <span class="field-advice">{`${row.missed} lines were left out. `}</span>
        )}
        {row.logger !== undefined && <span class="soft">{`${plain(row.logger, 60)}: `}</span>}
        <Text of={row.text} max={2000} />
        {row.call !== undefined && row.call > 0 && (
          <>
            {' '}
            <a href={to('call', row.call)}>{`#${row.call}`}</a>
          </>
        )}
      </span>
    </div>
  );
}

/** The level that the server is asked for: of the session in the legacy era, of each request in the modern one. */
function ServerLevel() {
  const [level, setLevel] = useState('');
  const [how, setHow] = useState('');
  const [error, setError] = useState<unknown>();
  const set = async (next: string) => {
    setLevel(next);
    setError(undefined);
    try {
      setHow((await ask('PUT log-level', { body: { level: next as LogLevelName } })).how);
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <>
      <Select
        label="ask the server for"
        value={level}
        onChange={(next) => void (next !== '' && set(next))}
        choices={[
          { value: '', say: 'its default' },
          ...LEVELS.map((value) => ({ value, say: `from ${value}` })),
        ]}
      />
      {how !== '' && <span class="soft">{how === 'session' ? 'of this session' : 'with each request'}</span>}
      <Problem error={error} />
    </>
  );
}

interface LogFilter {
  readonly text: string;
  readonly source: string;
  readonly level: string;
  readonly server: string | undefined;
}

function fits(row: LogRow, { text, source, level, server }: LogFilter): boolean {
  if (source !== '' && row.source !== source) return false;
  if (server !== undefined && row.server !== server) return false;
  if (level !== '' && LEVELS.indexOf(row.level ?? 'info') < LEVELS.indexOf(level)) return false;
  return text === '' || `${row.text} ${row.logger ?? ''}`.toLowerCase().includes(text);
}
