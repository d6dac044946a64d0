import { useState } from 'preact/hooks';
import type { CallRow } from '../../../src/contract.js';
import { Button } from '../parts/controls.js';
import { EraSign } from '../parts/era.js';
import { age, clock, exact } from '../parts/format.js';
import { Wide } from '../parts/layout.js';
import { Problem } from '../parts/states.js';
import { plain } from '../parts/text.js';
import { cancelCall } from '../state/calls.js';
import { to } from '../state/route.js';
import { isGateway, may } from '../state/session.js';
import { now } from '../state/time.js';
import { Outcome } from './outcome.js';
import { Progress } from './progress.js';

/** Calls, one a row. */
export function CallTable({ rows }: { readonly rows: readonly CallRow[] }) {
  const [error, setError] = useState<unknown>();
  return (
    <>
      <Problem error={error} />
      <Wide label="Calls, table">
        <table class="list-table calls">
          <thead>
            <tr>
              <th>call</th>
              <th>what</th>
              {isGateway() && <th>server</th>}
              <th class="aside">eras</th>
              {isGateway() && <th class="aside">caller</th>}
              <th>state</th>
              <th class="aside">began</th>
              <th>
                <span class="unseen">actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td class="nowrap">
                  <a class="row-link" href={to('call', row.id)}>{`#${row.id}`}</a>
                </td>
                <td class="grow">
                  <code>{plain(row.tool ?? row.prompt ?? row.uri ?? row.method, 80)}</code>
                  {(row.tool ?? row.prompt ?? row.uri) !== undefined && (
                    <span class="soft aside"> {plain(row.method, 40)}</span>
                  )}
                </td>
                {isGateway() && (
                  <td>
                    <a href={to('server', row.server ?? '')}>{plain(row.server ?? '', 60)}</a>
                  </td>
                )}
                <td class="nowrap aside">
                  <Eras row={row} />
                </td>
                {isGateway() && <td class="aside">{callerOf(row)}</td>}
                <td>
                  <Outcome row={row} />{' '}
                  {row.state !== 'done' && row.progress && <Progress progress={row.progress} />}
                </td>
                <td class="nowrap soft aside" title={exact(row.began)}>
                  {row.state === 'done' ? clock(row.began, false) : age(now.value - row.began)}
                </td>
                <td class="nowrap cell-actions">
                  {row.state !== 'done' && may('act') && (
                    <Button kind="quiet" onClick={() => cancelCall(row.id).catch(setError)}>
                      Cancel<span class="unseen"> {`call ${row.id}`}</span>
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}

/** The era of the client, and that of the server. */
function Eras({ row: { client, upstream } }: { readonly row: CallRow }) {
  const words = [client?.era, upstream?.era].filter((era) => era !== undefined);
  if (words.length === 0) return <span class="soft">—</span>;
  return (
    <span class="era-pair" title={words.join(' → ')}>
      {client && <EraSign era={client.era} />}
      {client && upstream && <span aria-hidden="true">→</span>}
      {upstream && <EraSign era={upstream.era} />}
      <span class="unseen">{words.join(' to ')}</span>
    </span>
  );
}

function callerOf({ client, own }: CallRow): string {
  if (own) return 'this console';
  return (
    [client?.principal, client?.name]
      .filter(Boolean)
      .map((each) => plain(each!, 60))
      .join(' · ') || 'not authenticated'
  );
}
