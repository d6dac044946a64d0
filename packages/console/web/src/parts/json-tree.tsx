import { useState } from 'preact/hooks';
import { compact } from '../json/print.js';
import type { Raw } from '../json/raw.js';
import { count } from './format.js';
import { plain, Text } from './text.js';

export interface TreeProps {
  readonly raw: Raw;
  /** JSON pointers to mark. */
  readonly marks?: ReadonlySet<string> | undefined;
  /** How many levels are open at first. */
  readonly open?: number;
  readonly label: string;
}

/** JSON as a tree. Closed parts and long lists are made when they are opened. */
export function JsonTree({ raw, marks, open = 2, label }: TreeProps) {
  return (
    <ul class="tree" aria-label={label}>
      <Node raw={raw} pointer="" marks={marks} open={open} />
    </ul>
  );
}

interface NodeProps {
  readonly name?: string;
  readonly raw: Raw;
  readonly pointer: string;
  readonly marks: ReadonlySet<string> | undefined;
  readonly open: number;
}

function Node({ name, raw, pointer, marks, open }: NodeProps) {
  const [isOpen, setOpen] = useState(open > 0 || leadsToMark(pointer, marks));
  const [shown, setShown] = useState(PAGE);
  const isMarked = marks?.has(pointer) === true;
  const label = name !== undefined && (
    <span class="tree-name">
      <Text of={name} max={200} />:{' '}
    </span>
  );
  if (raw.kind !== 'object' && raw.kind !== 'array')
    return (
      <li class={isMarked ? 'marked' : ''}>
        {label}
        <Leaf raw={raw} />
      </li>
    );
  const children: readonly (readonly [string, Raw])[] =
    raw.kind === 'object' ? raw.members : raw.items.map((item, at) => [String(at), item] as const);
  const [first, last] = raw.kind === 'object' ? '{}' : '[]';
  if (children.length === 0)
    return (
      <li class={isMarked ? 'marked' : ''}>
        {label}
        {first}
        {last}
      </li>
    );
  return (
    <li class={isMarked ? 'marked' : ''}>
      <button type="button" class="tree-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="twist" aria-hidden="true" />
        {label}
        {isOpen ? first : <span class="tree-gist">{gistOf(raw, children.length)}</span>}
      </button>
      {isOpen && (
        <ul>
          {children.slice(0, shown).map(([key, value], at) => (
            <Node
              key={`${at} ${key}`}
              name={key}
              raw={value}
              pointer={`${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`}
              marks={marks}
              open={open - 1}
            />
          ))}
          {children.length > shown && (
            <li>
              <button type="button" class="plain" onClick={() => setShown(shown + 10 * PAGE)}>
                {`${count(children.length - shown)} more`}
              </button>
            </li>
          )}
        </ul>
      )}
      {isOpen && <span class="tree-end">{last}</span>}
    </li>
  );
}

const PAGE = 100;

function Leaf({ raw }: { readonly raw: Exclude<Raw, { kind: 'object' | 'array' }> }) {
  if (raw.kind !== 'string') return <span class={`tree-${raw.kind}`}>{raw.text}</span>;
  return (
    <span class="tree-string">
      "<Text of={raw.value} max={2000} />"
    </span>
  );
}

function gistOf(raw: Raw, length: number): string {
  const text = length > 20 ? '' : compact(raw);
  if (text !== '' && text.length <= 60) return plain(text);
  return raw.kind === 'object' ? `{ ${count(length)} members }` : `[ ${count(length)} items ]`;
}

function leadsToMark(pointer: string, marks: ReadonlySet<string> | undefined): boolean {
  for (const mark of marks ?? []) if (mark.startsWith(pointer)) return true;
  return false;
}
