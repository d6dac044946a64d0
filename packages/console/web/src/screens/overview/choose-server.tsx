import { useState } from 'preact/hooks';
import { ask } from '../../api.js';
import { Head, Panel } from '../../parts/layout.js';
import { Problem } from '../../parts/states.js';
import { plain } from '../../parts/text.js';

/** The names of a configuration file. Nothing is started before one of them is chosen. */
export function ChooseServer({ names }: { readonly names: readonly string[] }) {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState('');
  const choose = async (name: string) => {
    setBusy(name);
    try {
      await ask('PUT connection', { body: { ...(await ask('GET connection', {})), name } });
    } catch (caught) {
      setError(caught);
    }
    setBusy('');
  };
  return (
    <div class="stack wide-gap">
      <Head
        title="Choose a server"
        sub="These are the names of the configuration file. Nothing has been started."
      />
      <Problem error={error} />
      <Panel>
        <ul class="choices-list">
          {names.map((name) => (
            <li key={name}>
              <button
                type="button"
                class="list-button"
                disabled={busy !== ''}
                onClick={() => void choose(name)}
              >
                {busy === name ? `${plain(name)} …` : plain(name)}
              </button>
            </li>
          ))}
        </ul>
      </Panel>
    </div>
  );
}
