// A server of each era behind a bridge, and a client of each era in front of it: all four cells, with the server's
// question intact. Three of the four parties could be somebody else's program.
import assert from 'node:assert/strict';
import { connect, createBridge, createServer, type Era, http, memory, serve } from 'isthmus';
import { z } from 'zod';

/** Asks its client in the middle of a call: a request in one era, an `input_required` round in the other. */
const server = createServer({ name: 'desk', version: '1.0.0' });
server.tool('book', { description: 'Books a room' }, async (_args, ctx) => {
  const answer = await ctx.elicit({ message: 'Which room?', schema: z.object({ room: z.string() }) });
  return answer.action === 'accept' ? `Booked ${answer.content.room}` : 'Not booked';
});

const answers = { elicit: () => ({ action: 'accept' as const, content: { room: 'the blue one' } }) };

for (const far of ['legacy', 'modern'] satisfies Era[]) {
  // The server knows one era only.
  const link = memory();
  await using _served = await serve(server, link, { eras: [far] });

  // The bridge in front of it, at an address for everybody.
  await using bridge = createBridge(link, { cache: false });
  await using open = await serve(bridge, http({ port: 0 }));

  for (const near of ['legacy', 'modern'] satisfies Era[]) {
    await using client = await connect(http(open.addresses[0]!), { mode: near, answers, cache: false });
    const { content } = await client.callTool('book');
    console.log(`${near} client, ${far} server: ${JSON.stringify(content)}`);
    assert.equal(client.server.info?.name, 'desk');
    assert.deepEqual(content, [{ type: 'text', text: 'Booked the blue one' }]);
  }
  assert.equal(bridge.upstream?.era, far);
}
