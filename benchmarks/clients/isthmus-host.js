/** A host of isthmus, as built: one process, shared by as many conversations as there are calls in flight. */

import { createHost } from '@isthmus/sdk';
import { drive } from './driver.js';

const CONVERSATIONS = 50;

await drive(async (mode, command, args) => {
  const host = createHost({ cache: false, ledger: false, servers: { echo: { command, args, mode } } });
  const conversations = Array.from({ length: CONVERSATIONS }, () => host.conversation('echo'));
  // As in real use, each conversation has connected before it is measured.
  await Promise.all(conversations.map((conversation) => conversation.callTool('echo', { text: 'hello' })));
  const { echo } = (await host.status()).servers;
  if (echo.processes.length !== 1) throw new Error(`there are ${echo.processes.length} processes`);
  let turn = 0;
  return {
    revision: conversations[0].revision,
    call: async (text) => {
      turn = (turn + 1) % CONVERSATIONS;
      const { content } = await conversations[turn].callTool('echo', { text });
      return /** @type {any} */ (content)[0].text;
    },
    close: () => host.close(),
  };
});
