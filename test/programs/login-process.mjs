// Uses a stored login once: `node login-process.mjs SERVER FOLDER [kill]`. Prints whether the server accepted the call.
// With `kill` the process dies as soon as the refresh was sent, while it holds the lock.
import { connect, fileLoginStore, http, oauth } from '@isthmus/sdk';

const [url, folder, mode] = process.argv.slice(2);
const auth = oauth({
  store: fileLoginStore(folder),
  ...(mode === 'kill' && {
    fetch: async () => {
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => {});
    },
  }),
});
const client = await connect(http(url, { auth }), { mode: 'modern', cache: false });
const { content } = await client.callTool('read');
process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'done', params: { content } })}\n`);
await client.close();
