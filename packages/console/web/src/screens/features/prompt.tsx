import { useState } from 'preact/hooks';
import { CallCard } from '../../calls/call-card.js';
import { CopyAs } from '../../calls/copy-as.js';
import { History } from '../../calls/history.js';
import { Button } from '../../parts/controls.js';
import { Head, Panel } from '../../parts/layout.js';
import { Problem } from '../../parts/states.js';
import { About, plain } from '../../parts/text.js';
import { useKeys } from '../../parts/use-keys.js';
import { beginCall, callsOf } from '../../state/calls.js';
import { isMac } from '../../state/keys.js';
import type { Item } from '../../state/lists.js';
import { go, to } from '../../state/route.js';
import { has, may } from '../../state/session.js';
import { useDraft } from '../../state/typed/drafts.js';
import { CompletedInput } from './completed-input.js';

interface PromptArgument {
  readonly name: string;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
}

/** One prompt: its arguments, with completion, and its messages. */
export function Prompt({ item, server }: { readonly item: Item; readonly server: string | undefined }) {
  const name = String(item['name']);
  const args = argumentsOf(item['arguments']);
  const [values, setValues] = useDraft<Readonly<Record<string, string>>>(
    `prompt ${server ?? ''} ${name}`,
    () => ({}),
  );
  const [error, setError] = useState<unknown>();
  const [chosen, setChosen] = useState<number | undefined>();
  const made = callsOf((row) => row.prompt === name && row.server === server && row.own);
  const shown = chosen ?? made[0]?.id;
  const params = () => JSON.stringify({ name, arguments: values });
  const get = async (lens: boolean) => {
    if (!may('act')) return;
    setError(undefined);
    try {
      const id = await beginCall({
        ...{ method: 'prompts/get', params: params() },
        ...(server !== undefined && { server }),
        ...(lens && { lens }),
      });
      setChosen(id);
      if (lens) go(to('call', id, 'lens'));
    } catch (caught) {
      setError(caught);
    }
  };
  useKeys([{ keys: 'mod+Enter', say: 'Get the prompt', run: () => void get(false) }]);
  const set = (argument: string, value: string | undefined) => {
    const { [argument]: _, ...rest } = values;
    setValues(value === undefined ? rest : { ...rest, [argument]: value });
  };
  return (
    <div class="stack wide-gap">
      <Head
        title={<code>{plain(name, 120)}</code>}
        sub={typeof item['title'] === 'string' ? plain(item['title']) : undefined}
      />
      <About text={item['description']} />
      <Panel label={`Arguments of ${plain(name)}`}>
        <div class="fields">
          {args.map((argument) => (
            <CompletedInput
              key={argument.name}
              name={argument.name}
              value={Object.hasOwn(values, argument.name) ? values[argument.name] : undefined}
              hasEmpty
              values={values}
              reference={{ type: 'ref/prompt', name }}
              server={server}
              isRequired={argument.required === true}
              about={argument.description}
              onChange={(value) => set(argument.name, value)}
            />
          ))}
          {args.length === 0 && <p class="soft">It takes no arguments.</p>}
        </div>
        <div class="call-bar">
          <Button
            kind="primary"
            keys={isMac ? '⌘⏎' : 'Ctrl ⏎'}
            disabled={!may('act')}
            onClick={() => get(false)}
          >
            Get
          </Button>
          {has('lens') && (
            <Button disabled={!may('act')} onClick={() => get(true)}>
              Get in both eras
            </Button>
          )}
          <CopyAs method="prompts/get" params={params} server={server} />
        </div>
        <Problem error={error} />
      </Panel>
      {shown !== undefined && <CallCard key={shown} id={shown} onAgain={setChosen} />}
      <History rows={made} chosen={shown} onChoose={setChosen} />
    </div>
  );
}

function argumentsOf(value: unknown): readonly PromptArgument[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    const { name, description, required } = (each ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof name !== 'string') return [];
    return [{ name, required: required === true, ...(typeof description === 'string' && { description }) }];
  });
}
