import { useState } from 'preact/hooks';
import type { ListenRequest, ListenView } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button, Check } from '../parts/controls.js';
import { Era } from '../parts/era.js';
import { age, clock } from '../parts/format.js';
import { Head, Panel } from '../parts/layout.js';
import { Empty, Problem } from '../parts/states.js';
import { plain, Text } from '../parts/text.js';
import { beginCall } from '../state/calls.js';
import { go, to } from '../state/route.js';
import { may } from '../state/session.js';
import { listens } from '../state/store.js';
import { now } from '../state/time.js';

/** Subscriptions: what was wanted, what the server honours, and what it has told. */
export function Listens({ server }: { readonly server: string | undefined }) {
  const all = listens.all.value.filter((listen) => listen.server === server).reverse();
  const [wanted, setWanted] = useState<Wanted>({ tools: true, prompts: false, resources: false, uris: '' });
  const [error, setError] = useState<unknown>();
  const listen = async () => {
    setError(undefined);
    const uris = wanted.uris.split(/\s+/).filter(Boolean);
    const { tools, prompts, resources } = wanted;
    try {
      const body = {
        tools,
        prompts,
        resources,
        ...(uris.length > 0 && { uris }),
        ...(server !== undefined && { server }),
      };
      await ask('POST listens', { body });
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <div class="stack wide-gap">
      <Head title="Listens" sub="A server tells of changes: of its lists, and of single resources." />
      {may('act') && (
        <Panel title="Listen to">
          <div class="choices">
            {(['tools', 'prompts', 'resources'] as const).map((what) => (
              <Check
                key={what}
                checked={wanted[what]}
                onChange={(checked) => setWanted({ ...wanted, [what]: checked })}
              >
                {`the list of ${what}`}
              </Check>
            ))}
          </div>
          <div class="row-form">
            <label class="grow">
              <span>single resources, by their URIs</span>
              <input
                type="text"
                value={wanted.uris}
                spellcheck={false}
                onInput={(event) => setWanted({ ...wanted, uris: event.currentTarget.value })}
              />
            </label>
            <Button kind="primary" onClick={listen}>
              Listen
            </Button>
          </div>
          <Problem error={error} />
        </Panel>
      )}
      {all.map((view) => (
        <ListenCard key={view.id} listen={view} onError={setError} />
      ))}
      {all.length === 0 && (
        <Empty title="Nothing is listened to.">News of a subscription comes here, with its time.</Empty>
      )}
    </div>
  );
}

interface Wanted {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  readonly uris: string;
}

function ListenCard({
  listen,
  onError,
}: {
  readonly listen: ListenView;
  readonly onError: (error: unknown) => void;
}) {
  const { id, era, began, ended, wanted, honoured, news, server } = listen;
  const missing = words(wanted).filter((each) => !words(honoured).includes(each));
  const read = async (uri: string) => {
    const of = server === undefined ? {} : { server };
    go(to('call', await beginCall({ method: 'resources/read', params: JSON.stringify({ uri }), ...of })));
  };
  return (
    <Panel
      title={
        <>
          <Era era={era} /> {era === 'modern' ? 'subscriptions/listen' : 'subscriptions of the session'}
        </>
      }
      side={
        <>
          <span class="soft">
            {ended ? `ended: ${plain(ended.why, 120)}` : `open for ${age(now.value - began)}`}
          </span>
          {!ended && may('act') && (
            <Button kind="quiet" onClick={() => ask('DELETE listens/:id', { path: [id] }).catch(onError)}>
              End
            </Button>
          )}
        </>
      }
    >
      <dl class="facts">
        <div>
          <dt>wanted</dt>
          <dd>
            {words(wanted)
              .map((each) => plain(each))
              .join(', ')}
          </dd>
        </div>
        <div>
          <dt>honoured</dt>
          <dd>
            {words(honoured)
              .map((each) => plain(each))
              .join(', ') || 'nothing'}
            {missing.length > 0 && (
              <span class="field-advice">{` not: ${missing.map((each) => plain(each)).join(', ')}`}</span>
            )}
          </dd>
        </div>
      </dl>
      <ul class="plain-list">
        {[...news].reverse().map(({ at, what, uri }, index) => (
          <li key={index}>
            <span class="soft">{clock(at)} </span>
            {uri === undefined ? (
              `the list of ${what} has changed`
            ) : (
              <Text of={`${uri} has changed`} max={300} />
            )}{' '}
            {uri !== undefined && may('act') && (
              <Button kind="quiet" onClick={() => read(uri).catch(onError)}>
                Read it
              </Button>
            )}
          </li>
        ))}
        {news.length === 0 && <li class="soft">no news yet</li>}
      </ul>
    </Panel>
  );
}

function words({ tools, prompts, resources, uris = [] }: Omit<ListenRequest, 'server'>): readonly string[] {
  return [
    ...(tools ? ['tools'] : []),
    ...(prompts ? ['prompts'] : []),
    ...(resources ? ['resources'] : []),
    ...uris,
  ];
}
