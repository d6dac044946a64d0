import { useState } from 'preact/hooks';
import type { LogLevelName } from '../../../../src/contract.js';
import { CallCard } from '../../calls/call-card.js';
import { CopyAs } from '../../calls/copy-as.js';
import { History } from '../../calls/history.js';
import { firstState, formProblem, SchemaForm, stateFor, textOfForm } from '../../forms/form.js';
import { type FormSchema, isRecord } from '../../forms/schema.js';
import { compact, member } from '../../json/print.js';
import { tryRaw } from '../../json/raw.js';
import { Button, Select } from '../../parts/controls.js';
import { plural, span } from '../../parts/format.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Panel } from '../../parts/layout.js';
import { Badge, Problem } from '../../parts/states.js';
import { About, plain } from '../../parts/text.js';
import { useKeys } from '../../parts/use-keys.js';
import { beginCall, callsOf } from '../../state/calls.js';
import { isMac } from '../../state/keys.js';
import type { Item } from '../../state/lists.js';
import { go, to } from '../../state/route.js';
import { has, may } from '../../state/session.js';
import { useDraft } from '../../state/typed/drafts.js';
import { rememberSent, sentBefore } from '../../state/typed/sent.js';

/** One tool: its form, the call, and what it brought. */
export function Tool({ item, server }: { readonly item: Item; readonly server: string | undefined }) {
  const name = String(item['name']);
  const schema: FormSchema = isRecord(item['inputSchema']) ? item['inputSchema'] : { type: 'object' };
  const key = `tool ${server ?? ''} ${name}`;
  const [state, setState] = useDraft(key, () => firstState(schema));
  const [timeout, setTimeoutMs] = useState('60000');
  const [level, setLevel] = useState('');
  const [error, setError] = useState<unknown>();
  const made = callsOf((row) => row.tool === name && row.server === server && row.own);
  const [chosen, setChosen] = useState<number | undefined>();
  const shown = chosen ?? made[0]?.id;
  const problem = formProblem(state);
  const params = () => `{"name":${JSON.stringify(name)},"arguments":${textOfForm(state)}}`;
  const call = async (lens: boolean) => {
    if (problem !== undefined || !may('act')) return;
    setError(undefined);
    try {
      const id = await beginCall({
        ...{ method: 'tools/call', params: params(), timeoutMs: Number(timeout) },
        ...(server !== undefined && { server }),
        ...(level !== '' && { logLevel: level as LogLevelName }),
        ...(lens && { lens }),
      });
      setChosen(id);
      rememberSent(key, textOfForm(state));
      if (lens) go(to('call', id, 'lens'));
    } catch (caught) {
      setError(caught);
    }
  };
  useKeys([{ keys: 'mod+Enter', say: 'Call the tool', run: () => void call(false) }]);
  const edit = (text: string) => {
    const args = member(tryRaw(text), 'arguments');
    setState(stateFor(schema, args ? compact(args) : '{}'));
    document.querySelector<HTMLElement>('.form input, .form textarea, .form select')?.focus();
  };
  return (
    <div class="stack wide-gap">
      <ToolHead item={item} server={server} />
      <Panel label={`Arguments of ${plain(name)}`}>
        <SchemaForm
          schema={schema}
          state={state}
          onChange={setState}
          label={`Arguments of ${name}`}
          wasSent={made.length > 0}
          suggestions={(field) => sentBefore(key, field)}
        />
        <div class="call-bar">
          <Button
            kind="primary"
            keys={isMac ? '⌘⏎' : 'Ctrl ⏎'}
            disabled={problem !== undefined || !may('act')}
            onClick={() => call(false)}
          >
            Call
          </Button>
          {has('lens') && (
            <Button disabled={problem !== undefined || !may('act')} onClick={() => call(true)}>
              Call in both eras
            </Button>
          )}
          <CopyAs method="tools/call" params={params} server={server} />
          <span class="grow" />
          <Select label="time-out" value={timeout} onChange={setTimeoutMs} choices={TIMEOUTS} />
          <Select label="logs" value={level} onChange={setLevel} choices={LEVELS} />
        </div>
        {!may('act') && (
          <p class="soft">Nothing can be sent here: this is a file of frames, or you may look only.</p>
        )}
        <Problem error={error} />
      </Panel>
      {shown !== undefined && <CallCard key={shown} id={shown} onEdit={edit} onAgain={setChosen} />}
      <History rows={made} chosen={shown} onChoose={setChosen} />
    </div>
  );
}

const TIMEOUTS = [
  { value: '10000', say: '10 s' },
  { value: '60000', say: '60 s' },
  { value: '600000', say: '10 min' },
  { value: '3600000', say: '1 h' },
];
const LEVELS = [
  { value: '', say: 'none' },
  ...['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'].map((value) => ({
    value,
    say: `from ${value}`,
  })),
];

/** How long half of its calls took at most. */
function Median({ name, server }: { readonly name: string; readonly server: string | undefined }) {
  const times = callsOf((row) => row.tool === name && row.server === server)
    .flatMap(({ ms, outcome }) => (ms === undefined || outcome === 'cancelled' ? [] : [ms]))
    .sort((one, other) => one - other);
  if (times.length < 2) return null;
  const median = times[Math.ceil(times.length / 2) - 1]!;
  return <span class="soft small">{`p50 ${span(median)} (${plural(times.length, 'call')})`}</span>;
}

function ToolHead({ item, server }: { readonly item: Item; readonly server: string | undefined }) {
  const annotations = isRecord(item['annotations']) ? item['annotations'] : {};
  const name = String(item['name']);
  const title = [item['title'], annotations['title']].find(
    (each): each is string => typeof each === 'string',
  );
  const raw = tryRaw(JSON.stringify(item));
  return (
    <div>
      <div class="head">
        <div class="head-words">
          <h1 tabIndex={-1}>
            <code>{plain(name, 120)}</code>
          </h1>
          {title !== undefined && title !== name && <div class="soft head-sub">{plain(title)}</div>}
        </div>
        <div class="badges">
          <Median name={name} server={server} />
          {annotations['readOnlyHint'] === true && <Badge kind="pass">reads only</Badge>}
          {annotations['destructiveHint'] === true && annotations['readOnlyHint'] !== true && (
            <Badge kind="warn">⚠ may change something for good</Badge>
          )}
          {annotations['idempotentHint'] === true && <Badge>may be repeated</Badge>}
          {annotations['openWorldHint'] === true && <Badge>reaches elsewhere</Badge>}
        </div>
      </div>
      <About text={item['description']} />
      {raw && (
        <details>
          <summary>Definition</summary>
          <JsonTree raw={raw} label={`Definition of ${plain(name)}`} open={2} />
        </details>
      )}
    </div>
  );
}
