import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Filter } from '../../parts/controls.js';
import { plural } from '../../parts/format.js';
import { Empty, Problem } from '../../parts/states.js';
import { plain } from '../../parts/text.js';
import { type Item, listOf, readList } from '../../state/lists.js';
import { to } from '../../state/route.js';
import { under } from '../screen.js';
import { Changes } from './changes.js';

/** Why a list could not be read, and where its server says more. */
export function ListProblem({
  title,
  error,
  server,
}: {
  /** Of the screen, which may have nothing else. */
  readonly title: string;
  readonly error: unknown;
  readonly server: string | undefined;
}) {
  if (error === undefined) return null;
  const [address, words] =
    server === undefined
      ? [to(), 'See the overview']
      : [to('server', server), `See the state of ${plain(server, 60)}, and what to do`];
  return (
    <div class="stack">
      <h1 tabIndex={-1}>{title}</h1>
      <Problem error={error}>
        <p>
          <a href={address}>{words}</a>
        </p>
      </Problem>
    </div>
  );
}

/** No item of a list has the text. */
export function NoHit({ what, onClear }: { readonly what: string; readonly onClear: () => void }) {
  return (
    <Empty title={`No ${what} has this in its name.`}>
      <button type="button" onClick={onClear}>
        Clear the filter
      </button>
    </Empty>
  );
}

/** An address names what the list does not have. */
export function Gone({ what, name }: { readonly what: string; readonly name: string }) {
  return (
    <Empty isScreen title={`There is no ${what} ${plain(name, 80)}.`}>
      It may have been removed. Read the list again.
    </Empty>
  );
}

/** The tools or the prompts of a server by their names, with a filter. `marks`: what stands behind a name. */
export function ItemList({
  what,
  server,
  chosen,
  marks,
}: {
  readonly what: 'tool' | 'prompt';
  readonly server: string | undefined;
  readonly chosen: string | undefined;
  readonly marks?: (item: Item, name: string) => ComponentChildren;
}) {
  const kind = `${what}s` as const;
  const { items, isLoading, changes } = listOf(kind, server).value;
  const [filter, setFilter] = useState('');
  const shown = items.filter((item) => String(item['name']).toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      <Filter label={`Filter the ${kind}`} value={filter} onInput={setFilter} />
      <div class="list-note soft">
        <span>{isLoading ? 'reading …' : plural(items.length, what)}</span>
        <button type="button" class="plain" onClick={() => void readList(kind, server)}>
          Read again
        </button>
      </div>
      <Changes changes={changes} />
      <ul class="list">
        {shown.map((item) => {
          const name = String(item['name']);
          return (
            <li key={name}>
              <a href={under(server, kind, name)} aria-current={name === chosen ? 'page' : undefined}>
                <span class="list-name">
                  {plain(name, 100)}
                  {typeof item['description'] === 'string' && (
                    <span class="list-sub list-line">{plain(item['description'], 100)}</span>
                  )}
                </span>
                {marks?.(item, name)}
              </a>
            </li>
          );
        })}
      </ul>
      {items.length > 0 && shown.length === 0 && <NoHit what={what} onClear={() => setFilter('')} />}
    </>
  );
}
