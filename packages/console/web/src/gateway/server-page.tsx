import { ServerScreen } from '../app/screen-switch.js';
import { Empty } from '../parts/states.js';
import { plain } from '../parts/text.js';
import { Calls } from '../screens/calls.js';
import { Logs } from '../screens/logs.js';
import { to } from '../state/route.js';
import { may } from '../state/session.js';
import { status } from '../state/store.js';
import { ServerState } from './server-state.js';
import { StateWord } from './state-word.js';

const TABS: readonly { readonly at: string; readonly name: string; readonly acts?: true }[] = [
  { at: '', name: 'State' },
  { at: 'tools', name: 'Tools', acts: true },
  { at: 'resources', name: 'Resources', acts: true },
  { at: 'prompts', name: 'Prompts', acts: true },
  { at: 'listens', name: 'Listens' },
  { at: 'calls', name: 'Calls' },
  { at: 'timing', name: 'Timing' },
  { at: 'logs', name: 'Logs' },
];

/** One server of a gateway: its state, and what an inspector shows, called through the gateway. */
export function ServerPage({ name, rest }: { readonly name: string; readonly rest: readonly string[] }) {
  const [first = '', ...more] = rest;
  const server = status.value?.servers.find((each) => each.name === name);
  if (status.value && !server)
    return (
      <Empty isScreen title={`The gateway has no server ${plain(name, 60)}.`}>
        <a href={to()}>See all servers</a>
      </Empty>
    );
  return (
    <div class="server-page">
      <div class="server-bar">
        <a class="server-name" href={to('server', name)}>
          {plain(name, 60)}
        </a>
        {server && <StateWord server={server} />}
        <nav class="tabs" aria-label={`Screens of ${plain(name, 60)}`}>
          {TABS.filter(({ acts }) => !acts || may('act')).map(({ at, name: tab }) => (
            <a
              key={at}
              href={at === '' ? to('server', name) : to('server', name, at)}
              aria-current={at === first ? 'page' : undefined}
            >
              {tab}
            </a>
          ))}
        </nav>
      </div>
      <div class={`server-main ${FILLS.has(first) ? 'fill' : ''}`}>
        {first === '' ? (
          <ServerState name={name} />
        ) : first === 'calls' ? (
          <Calls server={name} />
        ) : first === 'logs' ? (
          <Logs server={name} />
        ) : (
          <ServerScreen server={name} first={first} rest={more} />
        )}
      </div>
    </div>
  );
}

/** These scroll by themselves. */
const FILLS = new Set(['tools', 'resources', 'prompts', 'logs']);
