// News from a server, as a loop. A modern server is asked with `subscriptions/listen`; a legacy one is subscribed
// to resource by resource, and its unsolicited notifications are sorted. The loop is the same.
import assert from 'node:assert/strict';
import { type Change, connect, createServer, memory } from 'isthmus';

for (const mode of ['modern', 'legacy']) {
  const server = createServer({ name: 'kitchen', version: '1.0.0' });
  let soup = 'leek';
  server.resource('menu://soup', { name: 'soup' }, () => soup);
  server.tool('order', { description: 'Orders the soup' }, () => 'Coming.');

  await using client = await connect(memory(server), { mode });
  const changes = await client.listen({ tools: true, uris: ['menu://soup'] });
  console.log(`${client.era}: the server will tell of ${JSON.stringify(changes.honoured)}`);

  soup = 'pumpkin';
  server.resourceUpdated('menu://soup');
  server.tool('pay', { description: 'Pays' }, () => 'Thank you.');

  const seen: Change[] = [];
  for await (const change of changes) {
    seen.push(change);
    if (change.kind === 'resource') {
      const [contents] = (await client.readResource(change.uri)).contents;
      console.log(`${client.era}: ${change.uri} is now ${JSON.stringify(contents)}`);
      assert(contents && 'text' in contents && contents.text === 'pumpkin');
    }
    if (change.kind === 'tools') {
      const names = (await client.listTools()).map(({ name }) => name);
      console.log(`${client.era}: the tools are now ${names.join(', ')}`);
      assert.deepEqual(names, ['order', 'pay']);
    }
    // Leaving the loop ends the subscription.
    if (seen.length === 2) break;
  }
  assert.deepEqual(seen.map(({ kind }) => kind).sort(), ['resource', 'tools']);
}
