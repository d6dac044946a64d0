import { useEffect, useState } from 'preact/hooks';
import type { ProcessView, ServerDetail } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Era } from '../parts/era.js';
import { clock, count, exact, plural, since, size, span } from '../parts/format.js';
import { Head, Panel } from '../parts/layout.js';
import { Loading, Problem } from '../parts/states.js';
import { OptionName, plain, Text } from '../parts/text.js';
import { likelyIn } from '../screens/overview/failed.js';
import { status } from '../state/store.js';
import { now } from '../state/time.js';
import { SeriesChart } from './series-chart.js';
import { ServerActions } from './server-actions.js';

/** The state of a server: its receipts, its history, its limits, and what it most likely lacks. */
export function ServerState({ name }: { readonly name: string }) {
  const [detail, setDetail] = useState<ServerDetail | undefined>();
  const [error, setError] = useState<unknown>();
  const view = status.value?.servers.find((server) => server.name === name);
  useEffect(() => {
    ask('GET servers/:name', { path: [name] }).then(setDetail, setError);
  }, [name, status.value]);
  if (!detail || !view)
    return error === undefined ? <Loading what={`Reading ${plain(name, 60)}`} /> : <Problem error={error} />;
  const { history, limits, refused, likely, server, evidence, lastExit, tools } = detail;
  return (
    <div class="stack wide-gap">
      <Head
        title={plain(name, 60)}
        sub={server ? `${plain(server.name, 60)} ${plain(server.version, 40)}` : undefined}
      >
        <ServerActions server={view} isHead />
      </Head>
      {view.reason !== undefined && <Problem error={view.reason} />}
      {likelyIn({ message: view.reason ?? '', likely }).map(({ code, message, advice }) => (
        <Panel key={code} tone="fail" title="Most likely" side={<code class="code">{code}</code>}>
          <p>
            <Text of={message} />
          </p>
          {advice !== '' && (
            <p>
              <strong>What to do:</strong> <Text of={advice} />
            </p>
          )}
        </Panel>
      ))}
      <Panel title="Receipts" side={<span class="soft">what this very process has answered</span>}>
        {detail.processes.length === 0 && (
          <p class="soft">No process runs. {view.state === 'asleep' && 'The first call starts it.'}</p>
        )}
        {detail.processes.map((process) => (
          <Receipt key={process.generation} process={process} />
        ))}
        {evidence !== undefined && (
          <dl class="facts">
            <div>
              <dt>why {view.era ?? 'this era'}</dt>
              <dd>
                <Text of={evidence} max={400} />
              </dd>
            </div>
          </dl>
        )}
      </Panel>
      <SeriesChart server={name} />
      <div class="halves">
        <Panel title="Limits">
          <dl class="facts">
            {Object.entries(limits).map(([limit, value]) => (
              <div key={limit}>
                <dt>
                  <OptionName of={limit} />
                </dt>
                <dd>{count(value)}</dd>
              </div>
            ))}
            <div>
              <dt>now</dt>
              <dd>{`${view.load.running} running, ${view.load.waiting} waiting, ${view.load.asking} asking, ${plural(view.load.conversations, 'conversation')}`}</dd>
            </div>
            <div>
              <dt>refused</dt>
              <dd>{count(refused)}</dd>
            </div>
            {tools && (
              <div>
                <dt>tools</dt>
                <dd>
                  {[
                    tools.allow && `allow ${tools.allow.join(', ')}`,
                    tools.deny && `deny ${tools.deny.join(', ')}`,
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </dd>
              </div>
            )}
            <div>
              <dt>paths</dt>
              <dd>{view.paths.map((path) => plain(path, 80)).join(', ')}</dd>
            </div>
          </dl>
        </Panel>
        <Panel title="History">
          <ul class="plain-list">
            {[...history].reverse().map(({ at, what, generation }, index) => (
              <li key={index}>
                <span class="soft" title={exact(at)}>
                  {clock(at, false)}{' '}
                </span>
                <Text of={what} max={300} />
                {generation !== undefined && <span class="soft">{` gen ${generation}`}</span>}
              </li>
            ))}
            {history.length === 0 && <li class="soft">Nothing has happened since the console was opened.</li>}
          </ul>
          {lastExit && (
            <details>
              <summary>The last exit</summary>
              <p>
                {clock(lastExit.at, false)} <Text of={lastExit.reason} max={400} />
              </p>
              <pre class="bytes">
                <Text of={lastExit.stderr.join('\n')} max={4000} />
              </pre>
            </details>
          )}
        </Panel>
      </div>
    </div>
  );
}

function Receipt({ process }: { readonly process: ProcessView }) {
  const {
    receipt,
    generation,
    pid,
    era,
    uptimeMs,
    state,
    inFlight,
    queued,
    parked,
    noise,
    rssBytes,
    cpu,
    owner,
  } = process;
  return (
    <dl class="facts">
      <div>
        <dt>process</dt>
        <dd class="dots">
          <span>{state}</span>
          {pid !== undefined && <span>{`pid ${pid}`}</span>}
          <span>{`generation ${generation}`}</span>
          <Era era={era} />
          {uptimeMs !== undefined && <span>{`up ${span(uptimeMs)}`}</span>}
          {owner !== undefined && <span>{`for ${plain(owner, 60)}`}</span>}
        </dd>
      </div>
      {receipt && (
        <div>
          <dt>answered</dt>
          <dd class="dots">
            <span>{`${receipt.handshake} ${since(now.value - receipt.handshakeAt)}`}</span>
            {receipt.list && (
              <span>{`${receipt.list.method} with ${receipt.list.items}, ${since(now.value - receipt.list.at)}`}</span>
            )}
            {receipt.listError !== undefined && (
              <span class="field-advice">
                <Text of={receipt.listError} max={200} />
              </span>
            )}
          </dd>
        </div>
      )}
      <div>
        <dt>work</dt>
        <dd class="dots">
          <span>{`${inFlight} in flight`}</span>
          <span>{`${queued} queued`}</span>
          <span>{`${parked} parked`}</span>
          {rssBytes !== undefined && <span>{size(rssBytes)}</span>}
          {cpu !== undefined && <span>{`${Math.round(cpu)} % cpu`}</span>}
          {noise > 0 && <span class="field-advice">{`${noise} lines that are not messages`}</span>}
        </dd>
      </div>
    </dl>
  );
}
