import { useMemo, useState } from 'preact/hooks';
import { Filter } from '../parts/controls.js';
import { plural } from '../parts/format.js';
import { Split } from '../parts/layout.js';
import { Empty, Loading, Problem } from '../parts/states.js';
import { plain } from '../parts/text.js';
import { listOf, readList } from '../state/lists.js';
import { calls } from '../state/store.js';
import { Changes } from './changes.js';
import { type ScreenProps, under } from './screen.js';
import { Tool } from './tool.js';

/** The tools of a server, and the one that is chosen. */
export function Tools({ server, rest }: ScreenProps) {
  const { items, isLoading, error, page, changes } = listOf('tools', server).value;
  const [filter, setFilter] = useState('');
  const [chosen] = rest;
  const tool = items.find((item) => item['name'] === chosen);
  const counts = useMemo(() => countCalls(server), [calls.all.value, server]);
  const shown = items.filter((item) => String(item['name']).toLowerCase().includes(filter.toLowerCase()));
  const list = (
    <>
      <Filter label="Filter the tools" value={filter} onInput={setFilter} />
      <div class="list-note soft">
        <span>{isLoading ? 'reading …' : plural(items.length, 'tool')}</span>
        <button type="button" class="plain" onClick={() => void readList('tools', server)}>
          Read again
        </button>
      </div>
      <Changes changes={changes} />
      <ul class="list">
        {shown.map((item) => {
          const name = String(item['name']);
          return (
            <li key={name}>
              <a href={under(server, 'tools', name)} aria-current={name === chosen ? 'page' : undefined}>
                <span class="list-name">{plain(name, 100)}</span>
                {isDestructive(item) && (
                  <span class="badge warn" title="It may change something for good">
                    ⚠<span class="unseen"> may change something</span>
                  </span>
                )}
                {counts.has(name) && <span class="list-count">{`${counts.get(name)}×`}</span>}
              </a>
            </li>
          );
        })}
      </ul>
      {items.length > 0 && shown.length === 0 && (
        <Empty title="No tool has this in its name.">
          <button type="button" onClick={() => setFilter('')}>
            Clear the filter
          </button>
        </Empty>
      )}
    </>
  );
  return (
    <Split list={list} listLabel="Tools" hasChoice={chosen !== undefined} back={under(server, 'tools')}>
      <Problem error={error} />
      {tool && <Tool key={String(tool['name'])} item={tool} server={server} />}
      {!tool && chosen !== undefined && !isLoading && items.length > 0 && (
        <Empty isScreen title={`There is no tool ${plain(chosen, 80)}.`}>
          It may have been removed. Read the list again.
        </Empty>
      )}
      {!tool && isLoading && <Loading what="Reading the tools" />}
      {!tool && chosen === undefined && items.length > 0 && (
        <div class="hint">
          <h1 tabIndex={-1}>Tools</h1>
          <p class="soft">Choose a tool to see its form. `/` filters, `j` and `k` move.</p>
        </div>
      )}
      {!isLoading && items.length === 0 && error === undefined && (
        <div class="hint">
          <h1 tabIndex={-1}>Tools</h1>
          <Empty title="It offers no tools.">
            {page
              ? 'The list is empty. The wire has the answer.'
              : 'Its capabilities have no tools, or it is not connected.'}
          </Empty>
        </div>
      )}
    </Split>
  );
}

function countCalls(server: string | undefined): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { tool, server: of } of calls.all.value)
    if (tool !== undefined && of === server) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return counts;
}

function isDestructive({ annotations }: Readonly<Record<string, unknown>>): boolean {
  const { destructiveHint, readOnlyHint } = (annotations ?? {}) as Readonly<Record<string, unknown>>;
  return destructiveHint === true && readOnlyHint !== true;
}
