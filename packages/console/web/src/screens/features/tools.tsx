import { useMemo } from 'preact/hooks';
import { Split } from '../../parts/layout.js';
import { Empty, Loading } from '../../parts/states.js';
import { listOf } from '../../state/lists.js';
import { to } from '../../state/route.js';
import { calls } from '../../state/store.js';
import { type ScreenProps, under } from '../screen.js';
import { Gone, ItemList, ListProblem } from './list-parts.js';
import { Tool } from './tool.js';

/** The tools of a server, and the one that is chosen. */
export function Tools({ server, rest }: ScreenProps) {
  const { items, isLoading, error, page } = listOf('tools', server).value;
  const [chosen] = rest;
  const tool = items.find((item) => item['name'] === chosen);
  const counts = useMemo(() => countCalls(server), [calls.all.value, server]);
  const list = (
    <ItemList
      what="tool"
      server={server}
      chosen={chosen}
      marks={(item, name) => (
        <>
          {isDestructive(item) && (
            <span class="badge warn" title="It may change something for good">
              ⚠<span class="unseen"> may change something</span>
            </span>
          )}
          {counts.has(name) && <span class="list-count">{`${counts.get(name)}×`}</span>}
        </>
      )}
    />
  );
  return (
    <Split list={list} listLabel="Tools" hasChoice={chosen !== undefined} back={under(server, 'tools')}>
      {!tool && <ListProblem title="Tools" error={error} server={server} />}
      {tool && <Tool key={String(tool['name'])} item={tool} server={server} />}
      {!tool && chosen !== undefined && !isLoading && items.length > 0 && <Gone what="tool" name={chosen} />}
      {!tool && isLoading && (
        <div class="hint">
          <h1 tabIndex={-1}>Tools</h1>
          <Loading what="Reading the tools" />
        </div>
      )}
      {!tool && chosen === undefined && items.length > 0 && (
        <div class="hint beside-list">
          <h1 tabIndex={-1}>Tools</h1>
          <p class="soft">
            Choose a tool. You get a form for its arguments, and see its answer below. <kbd>/</kbd> filters
            the list, <kbd>j</kbd> and <kbd>k</kbd> move in it.
          </p>
        </div>
      )}
      {!isLoading && items.length === 0 && error === undefined && (
        <div class="hint">
          <h1 tabIndex={-1}>Tools</h1>
          <Empty title="It offers no tools.">
            {page ? (
              <>
                Its list is empty. <a href={to('wire')}>See the answer on the wire</a>
              </>
            ) : server === undefined ? (
              <>
                Its capabilities have no tools, or it is not connected. <a href={to()}>See the overview</a>
              </>
            ) : (
              'Its capabilities have no tools, or it does not run. Its state says more.'
            )}
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
