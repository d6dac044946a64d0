import { useState } from 'preact/hooks';
import { type ApiError, enterWith } from '../api.js';
import { CopyButton } from '../parts/controls.js';
import { Problem } from '../parts/states.js';

/** Without a key: how to get in. */
export function Door({ problem }: { readonly problem?: ApiError | undefined }) {
  const [shown] = useState(problem);
  return (
    <main class="door">
      <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
        <rect class="mark-legacy" x="2" y="9" width="12" height="14" rx="3" />
        <circle class="mark-modern" cx="24" cy="16" r="6" />
        <rect class="mark-bridge" x="13" y="14.5" width="6" height="3" />
      </svg>
      <h1>This page needs a link</h1>
      {shown && <Problem error={shown} />}
      <p>A link works once, within 60 seconds. Run one of these, and open the link that it prints:</p>
      <ul class="door-lines">
        {[
          ['isthmus console', 'for a gateway that runs'],
          ['isthmus inspect -- COMMAND', 'for one server'],
        ].map(([command, say]) => (
          <li key={command}>
            <code>{command}</code> <CopyButton text={() => command!} /> <span class="soft">{say}</span>
          </li>
        ))}
      </ul>
      <KeyForm />
    </main>
  );
}

/** A gateway may have operators with keys or tokens of their own. */
function KeyForm() {
  const [secret, setSecret] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const send = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await enterWith(secret.trim());
      location.reload();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    <form
      class="door-key"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label for="door-key">Or enter with a key or a token, where the gateway has some for operators:</label>
      <div class="actions start">
        <input
          id="door-key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
        <button type="submit" disabled={secret.trim() === '' || isBusy}>
          Enter
        </button>
      </div>
      <Problem error={error} />
    </form>
  );
}
