import { useEffect, useState } from 'preact/hooks';
import type { Asks, ConnectionSettings } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button, Check } from '../parts/controls.js';
import { Head, Panel } from '../parts/layout.js';
import { Empty, Problem } from '../parts/states.js';
import { plain, Text } from '../parts/text.js';
import { QuestionCard } from '../questions/question-card.js';
import { hello, isGateway, may } from '../state/session.js';
import { questions } from '../state/store.js';
import { forgetPreset, presets } from '../state/typed/presets.js';

/** What servers ask, and what they may ask. */
export function Questions() {
  const open = questions.all.value;
  return (
    <div class="stack wide-gap">
      <Head
        title="Questions"
        sub="A server may ask during a call: for a form, for a page to be opened, for a message of a model."
      />
      {open.map((question) => (
        <QuestionCard key={question.id} question={question} />
      ))}
      {open.length === 0 && (
        <Empty title="No question waits.">
          {hello.value?.readOnly
            ? 'This is a file of frames: its questions are with their calls.'
            : 'Call a tool that asks. The question comes here, and beside its call.'}
        </Empty>
      )}
      {presets.value.length > 0 && <Presets />}
      {!isGateway() && !hello.value?.readOnly && <MayAsk />}
    </div>
  );
}

/** Answers that this page gives by itself. */
function Presets() {
  return (
    <Panel title="Answered by this page" side={<span class="soft">Until the page is closed.</span>}>
      <ul class="plain-list">
        {presets.value.map(({ key, label, answer }) => (
          <li key={key}>
            {plain(label, 120)}{' '}
            <code>
              <Text of={JSON.stringify(answer)} max={200} />
            </code>{' '}
            <Button kind="quiet" onClick={() => forgetPreset(key)}>
              Ask me again<span class="unseen"> for {plain(label, 60)}</span>
            </Button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const ASKS: readonly { readonly name: keyof Asks; readonly say: string }[] = [
  { name: 'forms', say: 'forms (elicitation)' },
  { name: 'urls', say: 'pages to open (URL elicitation)' },
  { name: 'sampling', say: 'messages of a model (sampling)' },
  { name: 'roots', say: 'the folders that it may see (roots)' },
];

/** The declared capabilities follow from this. Another choice connects again. */
function MayAsk() {
  const [settings, setSettings] = useState<ConnectionSettings | undefined>();
  const [root, setRoot] = useState('');
  const [isSure, setSure] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    ask('GET connection', {}).then(setSettings, setError);
  }, []);
  if (!settings) return <Problem error={error} />;
  const change = async (next: ConnectionSettings) => {
    setError(undefined);
    setSettings(next);
    try {
      await ask('PUT connection', { body: next });
    } catch (caught) {
      setError(caught);
      setSettings(await ask('GET connection', {}));
    }
  };
  const addRoot = () => {
    if (!isSure) return setSure(true);
    setSure(false);
    setRoot('');
    void change({ ...settings, roots: [...settings.roots, { uri: root }] });
  };
  return (
    <Panel title="What the server may ask for" side={<span class="soft">A change connects again.</span>}>
      <div class="stack">
        {ASKS.map(({ name, say }) => (
          <Check
            key={name}
            checked={settings.asks[name]}
            disabled={!may('act')}
            onChange={(checked) => void change({ ...settings, asks: { ...settings.asks, [name]: checked } })}
          >
            {say}
          </Check>
        ))}
      </div>
      <h3>Roots</h3>
      <ul class="plain-list">
        {settings.roots.map(({ uri }) => (
          <li key={uri}>
            <code>
              <Text of={uri} max={300} />
            </code>{' '}
            <Button
              kind="quiet"
              onClick={() =>
                change({ ...settings, roots: settings.roots.filter((each) => each.uri !== uri) })
              }
            >
              Remove
            </Button>
          </li>
        ))}
        {settings.roots.length === 0 && <li class="soft">none</li>}
      </ul>
      <div class="row-form">
        <label class="grow">
          <span>Another folder</span>
          <input
            type="text"
            placeholder="file:///path"
            value={root}
            spellcheck={false}
            onInput={(event) => {
              setRoot(event.currentTarget.value);
              setSure(false);
            }}
          />
        </label>
        <Button
          {...(isSure && { kind: 'danger' as const })}
          disabled={!root.startsWith('file://') || !may('act')}
          onClick={addRoot}
        >
          {isSure ? 'Yes, tell the server of it' : 'Add the root'}
        </Button>
      </div>
      {isSure && <p class="field-advice">The server is told of this folder. The terminal says so, too.</p>}
      <Problem error={error} />
    </Panel>
  );
}
