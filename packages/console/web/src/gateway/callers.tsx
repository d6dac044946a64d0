import { useEffect, useState } from 'preact/hooks';
import type { CallerRow, SessionRow } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button } from '../parts/controls.js';
import { Era } from '../parts/era.js';
import { age, count, percent } from '../parts/format.js';
import { Head, Panel, Wide } from '../parts/layout.js';
import { Badge, Empty, Problem } from '../parts/states.js';
import { plain } from '../parts/text.js';
import { to } from '../state/route.js';
import { may } from '../state/session.js';
import { status } from '../state/store.js';
import { now } from '../state/time.js';

/** Who calls, and the sessions of legacy clients. */
export function Callers() {
  const [callers, setCallers] = useState<readonly CallerRow[]>([]);
  const [sessions, setSessions] = useState<readonly SessionRow[]>([]);
  const [error, setError] = useState<unknown>();
  const read = () => {
    ask('GET callers', {}).then(setCallers, setError);
    ask('GET sessions', {}).then(setSessions, setError);
  };
  useEffect(read, [status.value]);
  return (
    <div class="stack wide-gap">
      <Head title="Callers" sub="Counted while a page of the console is open.">
        <Button onClick={read}>Read again</Button>
      </Head>
      <Problem error={error} />
      {callers.length === 0 ? (
        <Empty title="No client has called yet.">{`Point a client at ${status.value?.listening[0] ?? 'the gateway'}.`}</Empty>
      ) : (
        <Panel title="Principals">
          <CallerTable callers={callers} />
        </Panel>
      )}
      <Panel title="Sessions of legacy clients">
        {sessions.length === 0 ? (
          <p class="soft">No session is open. Modern clients have none.</p>
        ) : (
          <SessionTable sessions={sessions} onEnded={read} />
        )}
      </Panel>
    </div>
  );
}

function CallerTable({ callers }: { readonly callers: readonly CallerRow[] }) {
  return (
    <Wide label="Callers, table">
      <table>
        <thead>
          <tr>
            <th>principal</th>
            <th>clients</th>
            <th>eras</th>
            <th class="num">sessions</th>
            <th class="num">now</th>
            <th class="num">calls</th>
            <th class="num">errors</th>
            <th title="Calls that run, of those that may run at once (maxConcurrentPerCaller)">limits</th>
            <th class="num">last</th>
          </tr>
        </thead>
        <tbody>
          {callers.map(
            ({ principal, clients, eras, sessions, now: running, calls, errors, lastAt, limits }) => (
              <tr key={principal ?? ''}>
                <th scope="row">
                  {principal === undefined ? (
                    <span class="soft">not authenticated</span>
                  ) : (
                    plain(principal, 100)
                  )}
                </th>
                <td>{clients.map((client) => plain(client, 60)).join(', ') || '—'}</td>
                <td>
                  <span class="dots">
                    {eras.map((era) => (
                      <Era key={era} era={era} />
                    ))}
                  </span>
                </td>
                <td class="num">{sessions}</td>
                <td class="num">{running}</td>
                <td class="num">{count(calls)}</td>
                <td class="num">{calls === 0 ? '—' : percent(errors / calls)}</td>
                <td>
                  {limits.length === 0 && '—'}
                  {limits.map(({ server, running, waiting, of }) => (
                    <div key={server} class="nowrap">
                      {plain(server, 40)}{' '}
                      <Badge kind={running === of ? 'warn' : 'soft'}>{`${running}/${of}`}</Badge>
                      {waiting > 0 && ` ${waiting} ${waiting === 1 ? 'waits' : 'wait'}`}
                    </div>
                  ))}
                </td>
                <td class="num">{lastAt === 0 ? '—' : age(now.value - lastAt)}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </Wide>
  );
}

function SessionTable({
  sessions,
  onEnded,
}: {
  readonly sessions: readonly SessionRow[];
  readonly onEnded: () => void;
}) {
  const isHere = ({ id }: SessionRow) => sessions.some((each) => each.id === id);
  const [asked, setAsked] = useState<SessionRow | undefined>();
  const [error, setError] = useState<unknown>();
  const end = async (session: SessionRow) => {
    if (asked?.id !== session.id) return setAsked(session);
    setAsked(undefined);
    setError(undefined);
    await ask('DELETE sessions/:id', { path: [session.id] }).catch(setError);
    onEnded();
  };
  return (
    <Wide label="Sessions, table">
      <Problem error={error} />
      <p class="soft" role="status">
        {asked && isHere(asked)
          ? `Session ${asked.id}: its calls are cancelled, and its client has to open another one.`
          : ''}
      </p>
      <table>
        <thead>
          <tr>
            <th class="num">session</th>
            <th>server</th>
            <th>principal</th>
            <th>client</th>
            <th>revision</th>
            <th class="num">open for</th>
            <th class="num">subscribed</th>
            {may('act') && (
              <th>
                <span class="unseen">actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => {
            const { id, server, principal, client, revision, since, subscribed } = session;
            return (
              <tr key={id}>
                <td class="num">{id}</td>
                <td>
                  <a href={to('server', server)}>{plain(server, 60)}</a>
                </td>
                <td>{principal === undefined ? '—' : plain(principal, 80)}</td>
                <td>{client === undefined ? '—' : plain(client, 80)}</td>
                <td>{plain(revision, 20)}</td>
                <td class="num">{age(now.value - since)}</td>
                <td class="num">{subscribed}</td>
                {may('act') && (
                  <td class="cell-actions">
                    <Button kind={asked?.id === id ? 'danger' : 'quiet'} onClick={() => end(session)}>
                      {asked?.id === id ? 'Yes, end' : 'End'}
                      <span class="unseen">{` session ${id}`}</span>
                    </Button>
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Wide>
  );
}
