import { useState } from 'preact/hooks';
import type { ServerView } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button } from '../parts/controls.js';
import { plural } from '../parts/format.js';
import { Problem } from '../parts/states.js';
import { plain } from '../parts/text.js';
import { may } from '../state/session.js';
import { runningOf } from './running.js';

type Verb = 'restart' | 'stop' | 'start';

/** Restart, stop and start. What calls would feel is asked for once more, with what will happen. */
export function ServerActions({
  server,
  isHead = false,
}: {
  readonly server: ServerView;
  /** In the head of its page, where they are buttons like those of other screens. */
  readonly isHead?: boolean;
}) {
  const [asked, setAsked] = useState<Verb | undefined>();
  const [busy, setBusy] = useState<Verb | undefined>();
  const [error, setError] = useState<unknown>();
  if (!may('act')) return null;
  const running = runningOf(server);
  const { conversations } = server.load;
  const act = async (verb: Verb) => {
    if (verb !== 'start' && asked !== verb && (running > 0 || conversations > 0 || verb === 'stop'))
      return setAsked(verb);
    setAsked(undefined);
    setBusy(verb);
    setError(undefined);
    try {
      if (verb === 'restart') await ask('POST servers/:name/restart', { path: [server.name] });
      else if (verb === 'stop') await ask('POST servers/:name/stop', { path: [server.name] });
      else await ask('POST servers/:name/start', { path: [server.name] });
    } catch (caught) {
      setError(caught);
    }
    setBusy(undefined);
  };
  const verbs: readonly Verb[] =
    server.state === 'off' ? ['start'] : server.state === 'failed' ? ['start', 'stop'] : ['restart', 'stop'];
  return (
    <span class="server-actions">
      {verbs.map((verb) => (
        <Button
          key={verb}
          verb={verb}
          {...(asked === verb ? { kind: 'danger' as const } : !isHead && { kind: 'quiet' as const })}
          disabled={busy !== undefined}
          onClick={() => act(verb)}
        >
          {busy === verb ? `${verb} …` : asked === verb ? `Yes, ${verb}` : isHead ? capital(verb) : verb}
          <span class="unseen"> {plain(server.name, 60)}</span>
        </Button>
      ))}
      {asked && (
        <>
          <Button kind="quiet" onClick={() => setAsked(undefined)}>
            no
          </Button>
          <span class="soft small" role="status">
            {running > 0
              ? `${plural(running, 'call')} will be finished first.`
              : asked === 'stop'
                ? 'Calls are refused until it is started.'
                : 'No call runs.'}
          </span>
        </>
      )}
      <Problem error={error} />
    </span>
  );
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
