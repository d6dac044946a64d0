/** The client of isthmus, as built. */

import { connect, stdio } from '@isthmus/sdk';
import { drive } from './driver.js';

await drive(async (mode, command, args) => {
  const client = await connect(stdio({ command, args }), { mode, cache: false });
  return {
    revision: client.revision,
    call: async (text) => {
      const { content } = await client.callTool('echo', { text });
      return /** @type {any} */ (content)[0].text;
    },
    close: () => client.close(),
  };
});
