import { useState } from 'preact/hooks';
import { Filter } from '../../parts/controls.js';
import { plural } from '../../parts/format.js';
import { Split } from '../../parts/layout.js';
import { Empty, Loading } from '../../parts/states.js';
import { plain } from '../../parts/text.js';
import { listOf, readList } from '../../state/lists.js';
import { type ScreenProps, under } from '../screen.js';
import { Changes } from './changes.js';
import { Gone, ListProblem, NoHit } from './list-states.js';
import { Prompt } from './prompt.js';

export function Prompts({ server, rest }: ScreenProps) {
  const { items, isLoading, error, changes } = listOf('prompts', server).value;
  const [filter, setFilter] = useState('');
  const [chosen] = rest;
  const prompt = items.find((item) => item['name'] === chosen);
  const shown = items.filter((item) => String(item['name']).toLowerCase().includes(filter.toLowerCase()));
  const list = (
    <>
      <Filter label="Filter the prompts" value={filter} onInput={setFilter} />
      <div class="list-note soft">
        <span>{isLoading ? 'reading …' : plural(items.length, 'prompt')}</span>
        <button type="button" class="plain" onClick={() => void readList('prompts', server)}>
          Read again
        </button>
      </div>
      <Changes changes={changes} />
      <ul class="list">
        {shown.map((item) => {
          const name = String(item['name']);
          return (
            <li key={name}>
              <a href={under(server, 'prompts', name)} aria-current={name === chosen ? 'page' : undefined}>
                <span class="list-name">
                  {plain(name, 100)}
                  {typeof item['description'] === 'string' && (
                    <span class="list-sub list-line">{plain(item['description'], 100)}</span>
                  )}
                </span>
              </a>
            </li>
          );
        })}
      </ul>
      {items.length > 0 && shown.length === 0 && <NoHit what="prompt" onClear={() => setFilter('')} />}
    </>
  );
  return (
    <Split list={list} listLabel="Prompts" hasChoice={chosen !== undefined} back={under(server, 'prompts')}>
      {!prompt && <ListProblem title="Prompts" error={error} server={server} />}
      {prompt && <Prompt key={String(prompt['name'])} item={prompt} server={server} />}
      {!prompt && chosen !== undefined && !isLoading && items.length > 0 && (
        <Gone what="prompt" name={chosen} />
      )}
      {!prompt && (chosen === undefined || isLoading || items.length === 0) && error === undefined && (
        <div class={`hint ${isLoading || items.length === 0 ? '' : 'beside-list'}`}>
          <h1 tabIndex={-1}>Prompts</h1>
          {isLoading ? (
            <Loading what="Reading the prompts" />
          ) : items.length === 0 ? (
            <Empty title="It offers no prompts.">Its capabilities have none, or its list is empty.</Empty>
          ) : (
            <p class="soft">Choose a prompt to fill it in and get its messages.</p>
          )}
        </div>
      )}
    </Split>
  );
}
