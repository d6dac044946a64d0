import { useState } from 'preact/hooks';
import type { Reloaded, ServerView } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button, CopyButton } from '../parts/controls.js';
import { Era } from '../parts/era.js';
import { percent, plural, size, span } from '../parts/format.js';
import { Head, Panel, Wide } from '../parts/layout.js';
import { Empty, Loading, Problem } from '../parts/states.js';
import { plain, Text } from '../parts/text.js';
import { useKeys } from '../parts/use-keys.js';
import { go, to } from '../state/route.js';
import { has, may } from '../state/session.js';
import { calls, status } from '../state/store.js';
import { now } from '../state/time.js';
import { runningOf } from './running.js';
import { ServerActions } from './server-actions.js';
import { Spark } from './spark.js';
import { receiptOf, StateWord } from './state-word.js';

/** Every server with the proof of its state. */
export function Servers() {
  const view = status.value;
  const [reloaded, setReloaded] = useState<Reloaded | undefined>();
  const [error, setError] = useState<unknown>();
  useKeys([
    { keys: '.', say: 'Restart the server of the row', run: () => press('restart') },
    { keys: 's', say: 'Stop or start the server of the row', run: () => press('stop') || press('start') },
    { keys: 'l', say: 'See the logs of the server of the row', run: () => seeLogs() },
  ]);
  if (!view) return <Loading what="Reading the status" />;
  const reload = async () => {
    setError(undefined);
    try {
      setReloaded(await ask('POST reload', {}));
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <>
      <Head title="Servers" sub={view.listening.map((address) => plain(address, 120)).join(' · ')}>
        {view.listening[0] !== undefined && (
          <CopyButton text={() => view.listening[0]!}>Copy the address</CopyButton>
        )}
        {has('reload') && may('act') && <Button onClick={reload}>Reload the configuration</Button>}
      </Head>
      {view.configProblem !== undefined && (
        <Problem error={view.configProblem}>
          <p>The file was not taken over. The configuration of before is in force.</p>
        </Problem>
      )}
      <Problem error={error} />
      {reloaded && <ReloadWords reloaded={reloaded} />}
      {view.servers.length === 0 && (
        <Empty title="The gateway has no servers.">Add one to the configuration file, and reload it.</Empty>
      )}
      {view.servers.length > 0 && (
        <Panel label="Servers">
          <Wide label="Servers, table">
            <table class="list-table servers">
              <thead>
                <tr>
                  <th>server</th>
                  <th>state</th>
                  <th>era</th>
                  <th class="num aside less">pid</th>
                  <th class="num aside less">restarts</th>
                  <th class="num aside">calls/s</th>
                  <th class="num aside">p95</th>
                  <th class="num aside">errors</th>
                  <th class="num aside">memory, cpu</th>
                  <th class="num aside" title="calls that run, and calls that wait">
                    now
                  </th>
                  <th class="aside">
                    <span class="unseen">actions</span>
                  </th>
                </tr>
              </thead>
              {view.servers.map((server) => (
                <Rows key={server.name} server={server} />
              ))}
            </table>
          </Wide>
          {calls.all.value.length === 0 && (
            <p class="soft">
              Open a server to call its tools, or point a client at{' '}
              <code>{plain(view.listening[0] ?? 'the gateway', 120)}</code>.
            </p>
          )}
        </Panel>
      )}
    </>
  );
}

/** The row that has the focus. */
function rowInFocus(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>('[data-server]') ?? null;
}

function press(verb: string): boolean {
  const button = rowInFocus()?.querySelector<HTMLElement>(`[data-verb="${verb}"]`);
  button?.click();
  return button !== null && button !== undefined;
}

function seeLogs(): boolean {
  const name = rowInFocus()?.dataset['server'];
  if (name !== undefined) go(to('server', name, 'logs'));
  return name !== undefined;
}

function Rows({ server }: { readonly server: ServerView }) {
  const [process] = server.processes;
  const running = runningOf(server);
  const { waiting } = server.load;
  const isFailed = server.state === 'failed' || server.state === 'restarting';
  return (
    <tbody data-server={server.name}>
      <tr>
        <th scope="row">
          <a class="row-link" href={to('server', server.name)}>
            {plain(server.name, 60)}
          </a>
        </th>
        <td>
          <StateWord server={server} />
          <Receipt server={server} />
        </td>
        <td>
          <Era era={server.era} />
        </td>
        <td class="num aside less">{server.kind === 'url' ? 'url' : (process?.pid ?? '—')}</td>
        <td class="num aside less">{server.restarts}</td>
        <td class="num aside">
          {server.callsPerSecond.toFixed(1)}
          <Spark server={server.name} of="calls" />
        </td>
        <td class="num aside">{server.p95 === undefined ? '—' : span(server.p95)}</td>
        <td class="num aside">
          {server.errorShare > 0 ? (
            <a href={`${to('server', server.name, 'calls')}?outcome=error`}>{percent(server.errorShare)}</a>
          ) : (
            percent(0)
          )}
        </td>
        <td class="num aside">
          {server.rssBytes === undefined ? '—' : size(server.rssBytes)}
          {server.cpu !== undefined && <span class="block soft small">{`${Math.round(server.cpu)} %`}</span>}
        </td>
        <td class="num aside" title={`${running} running, ${waiting} waiting`}>{`${running}+${waiting}`}</td>
        <td class="num aside">
          <ServerActions server={server} />
        </td>
      </tr>
      {(isFailed || server.reason !== undefined) && (
        <tr class="row-more">
          <td />
          <td colSpan={10}>
            {server.reason !== undefined && <Text of={server.reason} max={400} />}
            {server.lastExit && isFailed && (
              <>
                {' '}
                {server.lastExit.reason !== server.reason && (
                  <span class="soft">
                    <Text of={server.lastExit.reason} max={200} />
                  </span>
                )}
                {!isQuoted(server) && (
                  <pre class="bytes">
                    <Text of={server.lastExit.stderr.slice(-3).join('\n')} max={1000} />
                  </pre>
                )}
              </>
            )}{' '}
            <span class="dots">
              <a href={to('server', server.name)}>why, and what to do</a>
              <a href={to('server', server.name, 'logs')}>logs</a>
            </span>
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** The reason has its last line already, and there was no other. */
function isQuoted({ reason = '', lastExit }: ServerView): boolean {
  const lines = lastExit?.stderr ?? [];
  return lines.length === 0 || (lines.length === 1 && reason.includes(lines[0]!));
}

/** The proof of its state. The tools that it has listed lead to them. */
function Receipt({ server }: { readonly server: ServerView }) {
  const { handshake, list } = receiptOf(server, now.value);
  return (
    <span class="block soft small">
      {handshake}
      {list !== undefined && (
        <>
          {' · '}
          {list.place === 'tools' && may('act') ? (
            <a href={to('server', server.name, 'tools')}>{list.words}</a>
          ) : (
            list.words
          )}{' '}
          {list.age}
        </>
      )}
    </span>
  );
}

function ReloadWords({ reloaded }: { readonly reloaded: Reloaded }) {
  const { added, changed, removed, unchanged, problem } = reloaded;
  if (problem !== undefined)
    return (
      <Problem error={problem}>
        <p>The configuration of before is in force.</p>
      </Problem>
    );
  const words = [
    ...(added.length > 0 ? [`added: ${added.join(', ')}`] : []),
    ...(changed.length > 0 ? [`changed: ${changed.join(', ')}`] : []),
    ...(removed.length > 0 ? [`removed: ${removed.join(', ')}`] : []),
    `${plural(unchanged.length, 'server')} unchanged`,
  ];
  return (
    <p class="notice" role="status">
      {`Taken over. ${words.join(' · ')}`}
    </p>
  );
}
