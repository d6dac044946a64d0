import { createHost } from '@isthmus/sdk/internal/host/create-host.js';
import { expect, it, onTestFinished } from 'vitest';
import { ISTHMUS } from '../support/child.js';

/** A demo server that is started again without delay, twice in a row at most. */
function openHost() {
  const restart = { attempts: 2, firstDelayMs: 1, maxDelayMs: 1, jitter: 0, stableMs: 300_000 };
  const host = createHost({
    servers: { demo: { command: process.execPath, args: [ISTHMUS, 'demo'], restart } },
    cache: false,
    ledger: false,
  });
  onTestFinished(() => host.close());
  return host.conversation('demo');
}

it('R8: a process that has answered ten calls is not part of a crash loop, however often it crashes', async () => {
  const chat = openHost();
  for (let life = 1; life <= 4; life += 1) {
    for (let call = 1; call <= 10; call += 1) await chat.callTool('echo', { text: `${life}/${call}` });
    await expect(chat.callTool('crash', {})).rejects.toMatchObject({ code: 'CHILD_EXITED' });
  }
  expect(await chat.callTool('echo', { text: 'still here' })).toMatchObject({
    content: [{ type: 'text', text: 'still here' }],
  });
});

it('R8: a process that crashes at its first call still is', async () => {
  const chat = openHost();
  for (let life = 1; life <= 3; life += 1) {
    await expect(chat.callTool('crash', {})).rejects.toMatchObject({ code: 'CHILD_EXITED' });
  }
  await expect(chat.callTool('crash', {})).rejects.toMatchObject({ code: 'CRASH_LOOP' });
});
