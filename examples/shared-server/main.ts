// An application with many conversations and one server process. The host starts it with the first call, keeps
// the conversations apart, and starts it again when it crashes.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Client, createHost, IsthmusError } from 'isthmus';

const server = fileURLToPath(new URL('./server.js', import.meta.url));

await using host = createHost({
  servers: {
    kitchen: { command: process.execPath, args: [server], restart: { firstDelayMs: 100 } },
  },
});

// Two people at their own tables: each answers the server's questions in their own way.
const anna = host.conversation('kitchen', {
  name: 'Anna',
  answers: { elicit: () => ({ action: 'accept', content: { dish: 'soup' } }) },
});
const ben = host.conversation('kitchen', {
  name: 'Ben',
  answers: { elicit: () => ({ action: 'accept', content: { dish: 'salad' } }) },
});

// They order at the same time. There is one process, and each gets what it has ordered.
const orders = await Promise.all([anna, ben].map((guest) => textOf(guest, 'order')));
console.log(`Anna: ${orders[0]}. Ben: ${orders[1]}.`);
assert.deepEqual(orders, ['One soup', 'One salad']);

const before = await theProcess();
console.log(`One process, ${before.pid}, for ${before.conversations} conversations, generation 1.`);
assert.deepEqual([before.conversations, before.generation, before.restarts], [2, 1, 0]);

// The process dies while both read the menu. Ben has said that reading it twice does no harm; Anna has not.
const risky = textOf(anna, 'menu').catch((error: unknown) => error);
const safe = textOf(ben, 'menu', { retry: 'safe' });
await sleep(200);
process.kill(before.pid, 'SIGKILL');

// Anna is told at once, and can see that her call may have run: the host never makes such a call again by itself.
const error = await risky;
assert(error instanceof IsthmusError);
console.log(`Anna: ${error.code}, sent: ${error.sent}, generation ${error.generation}`);
assert.deepEqual([error.code, error.sent, error.generation], ['CHILD_EXITED', 'maybe', 1]);

// Ben only waits a little longer: his call was made again, and a fresh process has answered it.
const menu = await safe;
const after = await theProcess();
console.log(`Ben: ${menu}`);
assert.equal(menu, `Soup, cooked by process ${after.pid}`);

console.log(`The status: ${JSON.stringify(after)}`);
assert.notEqual(after.pid, before.pid);
assert.deepEqual([after.state, after.conversations, after.generation, after.restarts], ['ready', 2, 2, 1]);
assert.match(after.lastExit, /SIGKILL/);

// Anna's conversation has survived as well: her next call just works.
assert.equal(await textOf(anna, 'order'), 'One soup');

async function textOf(guest: Client, tool: string, options?: { retry: 'safe' }): Promise<string> {
  const { content } = await guest.callTool(tool, {}, options);
  assert(content[0]?.type === 'text');
  return content[0].text;
}

/** The only process of the kitchen, as the host sees it. */
async function theProcess() {
  const { kitchen } = (await host.status()).servers;
  const [only, ...others] = kitchen?.processes ?? [];
  assert(kitchen && only?.pid !== undefined && others.length === 0);
  const { state, pid, generation } = only;
  const { conversations, restarts, lastExit } = kitchen;
  return { state, pid, generation, conversations, restarts, lastExit: lastExit?.reason ?? '' };
}
