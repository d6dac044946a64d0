import { useState } from 'preact/hooks';
import { Filter } from '../../parts/controls.js';
import { plural, size } from '../../parts/format.js';
import { Split } from '../../parts/layout.js';
import { Empty, Loading } from '../../parts/states.js';
import { plain } from '../../parts/text.js';
import { type Item, keyOf, listOf, readList } from '../../state/lists.js';
import { type ScreenProps, under } from '../screen.js';
import { Changes } from './changes.js';
import { Gone, ListProblem, NoHit } from './list-parts.js';
import { Resource } from './resource.js';
import { Template } from './template.js';

/** Resources and templates, and the one that is chosen. */
export function Resources({ server, rest }: ScreenProps) {
  const resources = listOf('resources', server).value;
  const templates = listOf('templates', server).value;
  const [filter, setFilter] = useState('');
  const [chosen] = rest;
  const has = (item: Item) =>
    `${keyOf(item)} ${item['uri'] ?? item['uriTemplate']}`.toLowerCase().includes(filter.toLowerCase());
  const resource = resources.items.find((item) => keyOf(item) === chosen);
  const template = templates.items.find((item) => keyOf(item) === chosen);
  const entry = (item: Item) => {
    const key = keyOf(item);
    return (
      <li key={`${key} ${item['uri']}`}>
        <a href={under(server, 'resources', key)} aria-current={key === chosen ? 'page' : undefined}>
          <span class="list-name">
            {plain(key, 100)}
            <span class="list-sub block">{plain(String(item['uri'] ?? item['uriTemplate'] ?? ''), 80)}</span>
          </span>
          {typeof item['size'] === 'number' && <span class="list-count">{size(item['size'])}</span>}
        </a>
      </li>
    );
  };
  const isLoading = resources.isLoading || templates.isLoading;
  const error = resources.error ?? templates.error;
  const isEmpty = resources.items.length + templates.items.length === 0;
  const list = (
    <>
      <Filter label="Filter the resources" value={filter} onInput={setFilter} />
      <div class="list-note soft">
        <span>{isLoading ? 'reading …' : plural(resources.items.length, 'resource')}</span>
        <button
          type="button"
          class="plain"
          onClick={() => {
            void readList('resources', server);
            void readList('templates', server);
          }}
        >
          Read again
        </button>
      </div>
      <Changes changes={resources.changes} />
      <ul class="list">{resources.items.filter(has).map(entry)}</ul>
      {templates.items.length > 0 && <h2 class="list-group">{plural(templates.items.length, 'template')}</h2>}
      <ul class="list">{templates.items.filter(has).map(entry)}</ul>
      {!isEmpty && !resources.items.some(has) && !templates.items.some(has) && (
        <NoHit what="resource" onClear={() => setFilter('')} />
      )}
    </>
  );
  return (
    <Split
      list={list}
      listLabel="Resources"
      hasChoice={chosen !== undefined}
      back={under(server, 'resources')}
    >
      {!resource && !template && <ListProblem title="Resources" error={error} server={server} />}
      {resource && <Resource key={keyOf(resource)} item={resource} server={server} />}
      {!resource && template && <Template key={keyOf(template)} item={template} server={server} />}
      {!resource && !template && chosen !== undefined && !isLoading && !isEmpty && (
        <Gone what="resource" name={chosen} />
      )}
      {!resource && !template && (chosen === undefined || isLoading || isEmpty) && error === undefined && (
        <div class={`hint ${isLoading || isEmpty ? '' : 'beside-list'}`}>
          <h1 tabIndex={-1}>Resources</h1>
          {isLoading ? (
            <Loading what="Reading the resources" />
          ) : isEmpty ? (
            <Empty title="It offers no resources.">Its capabilities have none, or its lists are empty.</Empty>
          ) : (
            <p class="soft">Choose a resource to read it, or a template to fill it in.</p>
          )}
        </div>
      )}
    </Split>
  );
}
