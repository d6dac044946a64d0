import { Split } from '../../parts/layout.js';
import { Empty, Loading } from '../../parts/states.js';
import { listOf } from '../../state/lists.js';
import { type ScreenProps, under } from '../screen.js';
import { Gone, ItemList, ListProblem } from './list-parts.js';
import { Prompt } from './prompt.js';

export function Prompts({ server, rest }: ScreenProps) {
  const { items, isLoading, error } = listOf('prompts', server).value;
  const [chosen] = rest;
  const prompt = items.find((item) => item['name'] === chosen);
  const list = <ItemList what="prompt" server={server} chosen={chosen} />;
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
