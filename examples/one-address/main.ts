// One server on one HTTP address, for clients of both eras, with callers who prove who they are. Nothing is built
// per request, and the same handler asks its question in whichever way the caller's era can carry it.
import assert from 'node:assert/strict';
import { connect, createServer, http, serve } from 'isthmus';
import { z } from 'zod';

const server = createServer({ name: 'desk', version: '1.0.0' });

server.tool(
  'whoami',
  { description: 'Says who asks' },
  (_args, ctx) => `${ctx.peer.principal} (${ctx.peer.era})`,
);

server.tool('book', { description: 'Books a room' }, async (_args, ctx) => {
  const answer = await ctx.elicit({ message: 'Which room?', schema: z.object({ room: z.string() }) });
  return answer.action === 'accept' ? `Booked ${answer.content.room}` : 'Not booked';
});

const tokens = new Map([
  ['Bearer a-token', 'ada'],
  ['Bearer b-token', 'ben'],
]);

await using served = await serve(
  server,
  http({ port: 0, authenticate: (request) => tokens.get(request.header('authorization') ?? '') }),
);
const url = served.addresses[0]!;
console.log(`Serving ${url}`);

// A request without a token is refused, and its body is not read.
const stranger = await fetch(url, { method: 'POST', body: '{}' });
assert.equal(stranger.status, 401);
assert.equal(stranger.headers.get('www-authenticate'), 'Bearer');

const answers = { elicit: () => ({ action: 'accept' as const, content: { room: 'the blue one' } }) };
const headers = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

await using ada = await connect(http(url, headers('a-token')), { answers, cache: false });
await using ben = await connect(http(url, headers('b-token')), { answers, cache: false, mode: 'legacy' });
console.log(`ada: ${ada.era}, because ${ada.verdict.why}. ben: ${ben.era}.`);
assert.deepEqual([ada.era, ben.era], ['modern', 'legacy']);

for (const [client, who] of [
  [ada, 'ada (modern)'],
  [ben, 'ben (legacy)'],
] as const) {
  const { content } = await client.callTool('whoami');
  assert.deepEqual(content, [{ type: 'text', text: who }]);
  const booked = await client.callTool('book');
  console.log(`${who}: ${JSON.stringify(booked.content)}`);
  assert.deepEqual(booked.content, [{ type: 'text', text: 'Booked the blue one' }]);
}
