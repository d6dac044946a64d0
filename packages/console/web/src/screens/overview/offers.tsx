import type { ConnectionView } from '../../../../src/contract.js';
import { tryRaw } from '../../json/raw.js';
import { plural } from '../../parts/format.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Panel } from '../../parts/layout.js';
import { Text } from '../../parts/text.js';
import { type ListName, listOf, offered } from '../../state/lists.js';
import { to } from '../../state/route.js';

const LISTS: readonly { readonly what: ListName; readonly one: string; readonly place: string }[] = [
  { what: 'tools', one: 'tool', place: 'tools' },
  { what: 'resources', one: 'resource', place: 'resources' },
  { what: 'templates', one: 'template', place: 'resources' },
  { what: 'prompts', one: 'prompt', place: 'prompts' },
];
const OTHERS = ['logging', 'completions', 'tasks', 'experimental', 'extensions'];

/** What the server can do, what it lacks, and what is odd about it. */
export function Offers({ connection }: { readonly connection: ConnectionView }) {
  const { capabilities = {}, warnings } = connection;
  const has = new Set<ListName>(offered(capabilities));
  const others = OTHERS.filter((name) => name in capabilities);
  const lacks = [
    ...LISTS.filter(({ what }) => !has.has(what)).map(({ what }) => what),
    ...['logging', 'completions'].filter((name) => !(name in capabilities)),
  ];
  const raw = tryRaw(JSON.stringify(capabilities));
  return (
    <Panel title="What it can do">
      <dl class="facts">
        <div>
          <dt>Offers</dt>
          <dd class="dots">
            {LISTS.filter(({ what }) => has.has(what)).map(({ what, one, place }) => (
              <Offer key={what} what={what} one={one} place={place} />
            ))}
            {others.map((name) => (
              <span key={name}>{name}</span>
            ))}
            {has.size === 0 && others.length === 0 && <span>nothing that it declares</span>}
          </dd>
        </div>
        <div>
          <dt>Lacks</dt>
          <dd>{lacks.length === 0 ? 'nothing' : lacks.join(', ')}</dd>
        </div>
        <div>
          <dt>Odd</dt>
          <dd>
            {warnings.length === 0 ? (
              'nothing'
            ) : (
              <ul class="odd-list">
                {warnings.map(({ code, message }) => (
                  <li key={code}>
                    <code>{code}</code> <Text of={message} max={600} />
                  </li>
                ))}
              </ul>
            )}
          </dd>
        </div>
      </dl>
      {raw && (
        <details>
          <summary>Capabilities as it declares them</summary>
          <JsonTree raw={raw} label="Capabilities" open={3} />
        </details>
      )}
    </Panel>
  );
}

function Offer({
  what,
  one,
  place,
}: {
  readonly what: ListName;
  readonly one: string;
  readonly place: string;
}) {
  const { items, isLoading, error } = listOf(what).value;
  return (
    <a href={to(place)}>
      {isLoading ? `${what} …` : error !== undefined ? `${what}: not readable` : plural(items.length, one)}
    </a>
  );
}
