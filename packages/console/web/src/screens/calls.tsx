import { useMemo, useState } from 'preact/hooks';
import type { CallRow } from '../../../src/contract.js';
import { CallTable } from '../calls/call-table.js';
import { Filter, Select } from '../parts/controls.js';
import { Head, Panel } from '../parts/layout.js';
import { Empty } from '../parts/states.js';
import { plain } from '../parts/text.js';
import { chosenIn, to } from '../state/route.js';
import { isGateway } from '../state/session.js';
import { calls, status } from '../state/store.js';
import { under } from './screen.js';

/** The calls that run, and the last ones. */
export function Calls({ server: fixed }: { readonly server: string | undefined }) {
  const [text, setText] = useState('');
  const [outcome, setOutcome] = chosenIn('outcome', OUTCOME_WORDS);
  const [server, setServer] = useState('');
  const [limit, setLimit] = useState(100);
  const wanted = fixed ?? (server === '' ? undefined : server);
  const all = calls.all.value;
  const [open, done] = useMemo(() => {
    const found = all.filter((row) => fits(row, text.toLowerCase(), outcome, wanted)).reverse();
    return [found.filter(({ state }) => state !== 'done'), found.filter(({ state }) => state === 'done')];
  }, [all, text, outcome, wanted]);
  return (
    <div class="stack wide-gap">
      <Head title="Calls" sub={`${open.length} running, ${done.length} finished`} />
      <div class="filter-bar">
        <Filter label="Filter by tool, method or caller" value={text} onInput={setText} />
        {isGateway() && fixed === undefined && (
          <Select
            label="Server"
            value={server}
            onChange={setServer}
            choices={[
              { value: '', say: 'all' },
              ...(status.value?.servers ?? []).map(({ name }) => ({ value: name, say: plain(name, 60) })),
            ]}
          />
        )}
        <Select label="Outcome" value={outcome} onChange={setOutcome} choices={OUTCOMES} />
      </div>
      {open.length > 0 && (
        <Panel title="Running">
          <CallTable rows={open} />
        </Panel>
      )}
      {done.length > 0 && (
        <Panel title="Finished" side={<span class="soft">{`the last ${Math.min(done.length, limit)}`}</span>}>
          <CallTable rows={done.slice(0, limit)} />
          {done.length > limit && (
            <button type="button" class="plain" onClick={() => setLimit(limit + 200)}>
              Show more
            </button>
          )}
        </Panel>
      )}
      {open.length + done.length === 0 && all.length > 0 && (
        <Empty title="No call fits the filter.">
          <button
            type="button"
            onClick={() => {
              setText('');
              setOutcome('');
              setServer('');
            }}
          >
            Clear the filter
          </button>
        </Empty>
      )}
      {all.length === 0 && (
        <Empty title="No calls yet.">
          <NoCalls server={fixed} />
        </Empty>
      )}
    </div>
  );
}

function NoCalls({ server }: { readonly server: string | undefined }) {
  if (!isGateway())
    return (
      <>
        <a href={to('tools')}>Choose a tool</a>, and call it.
      </>
    );
  return (
    <>
      Calls are seen from the moment at which the console was opened. Point a client at{' '}
      <code>{plain(status.value?.listening[0] ?? 'the gateway', 120)}</code>, or{' '}
      {server === undefined ? (
        <a href={to()}>open a server and call a tool</a>
      ) : (
        <a href={under(server, 'tools')}>call a tool</a>
      )}
      .
    </>
  );
}

const OUTCOMES = [
  { value: '', say: 'all' },
  { value: 'ok', say: 'ok' },
  { value: 'tool_error', say: 'tool error' },
  { value: 'error', say: 'error' },
  { value: 'cancelled', say: 'cancelled' },
  { value: 'input_required', say: 'input required' },
];

const OUTCOME_WORDS = OUTCOMES.map(({ value }) => value);

function fits(row: CallRow, text: string, outcome: string, server: string | undefined): boolean {
  if (outcome !== '' && row.outcome !== outcome) return false;
  if (server !== undefined && row.server !== server) return false;
  if (text === '') return true;
  const { tool = '', prompt = '', uri = '', method, client } = row;
  return `${tool} ${prompt} ${uri} ${method} ${client?.principal ?? ''} ${client?.name ?? ''} #${row.id}`
    .toLowerCase()
    .includes(text);
}
