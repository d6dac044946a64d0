// A gateway inside of a program: two servers behind one address, each at its own path, and both as one at /mcp.
import assert from 'node:assert/strict';
import { createGateway } from '@isthmus/gateway';
import { connect, createServer, http, serve } from 'isthmus';

/** Any server: here one in this process, behind a URL. A command would be { kind: 'command', command, args, env, cwd }. */
async function start(name: string) {
  const server = createServer({ name, version: '1.0.0' });
  server.tool('hello', { description: 'Says hello' }, () => `Hello from ${name}`);
  return serve(server, http({ port: 0 }));
}

await using one = await start('one');
await using two = await start('two');
const at = (name: string, url: string) =>
  ({ kind: 'url', name, url, transport: 'auto', headers: {} }) as const;

await using gateway = await createGateway({
  units: [at('one', one.addresses[0]!), at('two', two.addresses[0]!)],
  addresses: ['http://127.0.0.1:0/mcp'],
  host: { cache: false, ledger: false },
});
const [url] = gateway.addresses as [string];
console.log(`Gateway at ${url}`);

await using all = await connect(http(url), { cache: false });
const names = (await all.listTools()).map(({ name }) => name).sort();
console.log(names.join(', '));
assert.deepEqual(names, ['one__hello', 'two__hello']);

await using alone = await connect(http(`${url}/two`), { cache: false });
assert.deepEqual((await alone.callTool('hello')).content, [{ type: 'text', text: 'Hello from two' }]);
