import { useState } from 'preact/hooks';
import { ask } from '../../api.js';
import { CallCard } from '../../calls/call-card.js';
import { History } from '../../calls/history.js';
import { Button } from '../../parts/controls.js';
import { Address } from '../../parts/external.js';
import { Head } from '../../parts/layout.js';
import { Problem } from '../../parts/states.js';
import { About, plain } from '../../parts/text.js';
import { useKeys } from '../../parts/use-keys.js';
import { beginCall, callsOf } from '../../state/calls.js';
import { isMac } from '../../state/keys.js';
import { type Item, keyOf } from '../../state/lists.js';
import { may } from '../../state/session.js';

/** One resource: read it, or listen to it. */
export function Resource({ item, server }: { readonly item: Item; readonly server: string | undefined }) {
  const uri = String(item['uri'] ?? '');
  const title = typeof item['title'] === 'string' ? item['title'] : undefined;
  return (
    <div class="stack wide-gap">
      <Head title={plain(title ?? keyOf(item), 120)} sub={<Address url={uri} open={false} />}>
        {typeof item['mimeType'] === 'string' && (
          <span class="badge soft">{plain(item['mimeType'], 60)}</span>
        )}
      </Head>
      <About text={item['description']} />
      <ReadUri uri={uri} server={server} />
    </div>
  );
}

/** Reads an address, and shows what it brought. */
export function ReadUri({
  uri,
  server,
  isBlocked = false,
}: {
  readonly uri: string;
  readonly server: string | undefined;
  readonly isBlocked?: boolean;
}) {
  const [error, setError] = useState<unknown>();
  const [chosen, setChosen] = useState<number | undefined>();
  const [isListening, setListening] = useState(false);
  const made = callsOf(
    (row) => row.method === 'resources/read' && row.uri === uri && row.server === server && row.own,
  );
  const shown = chosen ?? made[0]?.id;
  const of = server === undefined ? {} : { server };
  const read = async () => {
    if (isBlocked || !may('act')) return;
    setError(undefined);
    try {
      setChosen(await beginCall({ method: 'resources/read', params: JSON.stringify({ uri }), ...of }));
    } catch (caught) {
      setError(caught);
    }
  };
  const listen = async () => {
    try {
      await ask('POST listens', { body: { uris: [uri], ...of } });
      setListening(true);
    } catch (caught) {
      setError(caught);
    }
  };
  useKeys([{ keys: 'mod+Enter', say: 'Read the resource', run: () => void read() }]);
  return (
    <>
      <div class="actions start">
        <Button
          kind="primary"
          keys={isMac ? '⌘⏎' : 'Ctrl ⏎'}
          disabled={isBlocked || !may('act')}
          onClick={read}
        >
          Read
        </Button>
        <Button disabled={isBlocked || isListening || !may('act')} onClick={listen}>
          {isListening ? 'Listening' : 'Listen'}
        </Button>
        {isListening && <span class="soft">Changes are on the screen Listens.</span>}
      </div>
      <Problem error={error} />
      {shown !== undefined && <CallCard key={shown} id={shown} onAgain={setChosen} />}
      <History rows={made} chosen={shown} onChoose={setChosen} />
    </>
  );
}
