import type { Ref } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Dialog, type DialogHandle } from '../parts/dialog.js';
import { plain } from '../parts/text.js';
import { upstream } from '../state/connection.js';
import { keyOf, type ListName, listOf, offered } from '../state/lists.js';
import { go, to } from '../state/route.js';
import { isGateway } from '../state/session.js';
import { status } from '../state/store.js';
import { screensOf } from './places.js';

interface Goal {
  readonly kind: string;
  readonly name: string;
  readonly address: string;
}

/** Goes to anything by its name. */
export function Palette({ handle }: { readonly handle: Ref<DialogHandle> }) {
  return (
    <Dialog title="Go to" handle={handle}>
      <Search onDone={() => (handle as { current: DialogHandle | null }).current?.close()} />
    </Dialog>
  );
}

function Search({ onDone }: { readonly onDone: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const goals = useMemo(allGoals, []);
  const found = useMemo(() => rank(goals, text), [goals, text]);
  const index = Math.min(at, found.length - 1);
  const choose = (goal: Goal | undefined) => {
    if (!goal) return;
    onDone();
    go(goal.address);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, index + by)));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(found[index]);
    }
  };
  return (
    <div class="palette">
      <input
        type="text"
        role="combobox"
        aria-label="Name of a screen, tool, resource, prompt or server"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `goal-${index}` : undefined}
        placeholder="tool, resource, prompt, screen …"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label="Found" class="palette-list">
        {found.map((goal, number) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          <div
            key={goal.address}
            id={`goal-${number}`}
            role="option"
            aria-selected={number === index}
            onClick={() => choose(goal)}
          >
            <span>{plain(goal.name, 100)}</span>
            <span class="soft">{goal.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="soft">Nothing has this name.</p>}
    </div>
  );
}

function allGoals(): readonly Goal[] {
  const screens = screensOf(isGateway()).map(({ name, at }) => ({
    kind: 'screen',
    name,
    address: to(...at),
  }));
  const servers = (status.peek()?.servers ?? []).map(({ name }) => ({
    kind: 'server',
    name,
    address: to('server', name),
  }));
  const items = offered(upstream.peek()?.capabilities).flatMap((what) =>
    listOf(what)
      .peek()
      .items.map((item) => ({
        kind: SINGULAR[what],
        name: keyOf(item),
        address: to(PLACES[what], keyOf(item)),
      })),
  );
  return [...screens, ...servers, ...items];
}

const SINGULAR: Readonly<Record<ListName, string>> = {
  tools: 'tool',
  resources: 'resource',
  templates: 'template',
  prompts: 'prompt',
};
const PLACES: Readonly<Record<ListName, string>> = {
  tools: 'tools',
  resources: 'resources',
  templates: 'resources',
  prompts: 'prompts',
};

/** Names that begin with the text, then those that have it; or else those that have its letters in order. */
function rank(goals: readonly Goal[], text: string): readonly Goal[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return goals.slice(0, 50);
  const scored = goals.flatMap((goal) => {
    const name = goal.name.toLowerCase();
    const score = name.startsWith(wanted) ? 0 : name.includes(wanted) ? 1 : hasInOrder(name, wanted) ? 2 : -1;
    return score < 0 ? [] : [{ goal, score }];
  });
  // Letters in order are for those who remember no more.
  const best = scored.some(({ score }) => score < 2) ? 1 : 2;
  return scored
    .filter(({ score }) => score <= best)
    .sort((one, other) => one.score - other.score)
    .slice(0, 50)
    .map(({ goal }) => goal);
}

function hasInOrder(name: string, wanted: string): boolean {
  let at = 0;
  for (const letter of wanted) {
    at = name.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
