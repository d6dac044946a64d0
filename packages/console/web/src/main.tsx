import { render } from 'preact';
import { ApiError, borrowKey, enter, hasKey, shareKey } from './api.js';
import { App } from './app/app.js';
import { follow } from './state/feed.js';
import { startKeys } from './state/keys.js';
import { followLists } from './state/lists.js';
import { startRouter } from './state/route.js';
import { phase } from './state/session.js';
import { startClock } from './state/time.js';
import { followPresets } from './state/typed/presets.js';
import './style/index.css';

startRouter();
startKeys();
startClock();
shareKey(() => {
  if (phase.peek().at === 'door') location.reload();
});
followLists();
followPresets();
render(<App />, document.getElementById('page')!);
void begin();
// A new link in a tab that is open already. Whatever the tab showed before belongs to another key.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#enter=')) enter().then(() => location.reload(), refuse);
});

async function begin(): Promise<void> {
  try {
    await enter();
  } catch (error) {
    return refuse(error);
  }
  if (!hasKey()) await borrowKey();
  if (!hasKey()) {
    phase.value = { at: 'door' };
    return;
  }
  phase.value = { at: 'connecting' };
  await follow();
}

function refuse(error: unknown): void {
  phase.value = { at: 'door', problem: error instanceof ApiError ? error : undefined };
}
