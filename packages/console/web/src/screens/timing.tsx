import { useEffect, useState } from 'preact/hooks';
import type { TimingRow } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button, Select } from '../parts/controls.js';
import { count, span } from '../parts/format.js';
import { Head, Panel, Wide } from '../parts/layout.js';
import { Empty, Loading, Problem } from '../parts/states.js';
import { plain } from '../parts/text.js';
import { calls } from '../state/store.js';
import { Dots } from './dots.js';
import { under } from './screen.js';

/** How long calls took, by tool: every call a dot, and a table of the same. */
export function Timing({ server }: { readonly server: string | undefined }) {
  const [known, setKnown] = useState<readonly TimingRow[] | undefined>();
  const rows = known ?? [];
  const [error, setError] = useState<unknown>();
  const [chosen, setChosen] = useState('');
  const done = calls.all.value.filter(({ state }) => state === 'done').length;
  const read = () => {
    ask('GET timing', { query: server === undefined ? {} : { server } }).then(setKnown, setError);
  };
  useEffect(() => {
    // The first time at once; then many calls are read together.
    const timer = setTimeout(read, known ? 300 : 0);
    return () => clearTimeout(timer);
  }, [done, server]);
  const keyOf = (row: TimingRow) => `${row.method} ${row.name}`;
  const shown = rows.filter((row) => chosen === '' || keyOf(row) === chosen);
  return (
    <div class="stack wide-gap">
      <Head title="Timing" sub="From the request to the answer, as this process saw it.">
        <Select
          label="Show"
          value={chosen}
          onChange={setChosen}
          choices={[
            { value: '', say: 'all' },
            ...rows.map((row) => ({ value: keyOf(row), say: plain(row.name, 60) })),
          ]}
        />
        <Button onClick={read}>Read again</Button>
      </Head>
      <Problem error={error} />
      {!known && error === undefined && <Loading what="Reading the times" />}
      {known?.length === 0 && (
        <Empty title="Nothing was called yet.">
          <a href={under(server, 'tools')}>Call a tool</a>: its time comes here.
        </Empty>
      )}
      {shown.length > 0 && (
        <Panel label="Chart">
          <Wide label="Chart of the times">
            <Dots rows={shown} />
          </Wide>
        </Panel>
      )}
      {rows.length > 0 && (
        <Panel label="Times by name">
          <Wide label="Times by name, table">
            <table class="list-table times">
              <thead>
                <tr>
                  <th>name</th>
                  <th class="aside">method</th>
                  <th class="num">calls</th>
                  <th class="num">failed</th>
                  <th class="num">p50</th>
                  <th class="num">p95</th>
                  <th class="num aside">p99</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={keyOf(row)}>
                    <th scope="row">
                      <code>{plain(row.name, 80)}</code>
                    </th>
                    <td class="soft aside">{plain(row.method, 40)}</td>
                    <td class="num">{count(row.calls)}</td>
                    <td class="num">{count(row.errors)}</td>
                    <td class="num">{span(row.p50)}</td>
                    <td class="num">{span(row.p95)}</td>
                    <td class="num aside">{span(row.p99)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
        </Panel>
      )}
    </div>
  );
}
