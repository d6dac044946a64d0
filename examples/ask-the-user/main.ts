// One handler asks the user with `await ctx.elicit(…)`. A legacy client gets a request in the middle of its
// call; a modern client gets an `input_required` result and calls again. The handler does not notice.
import assert from 'node:assert/strict';
import { memory, serve } from 'isthmus';
import { server } from './booking.js';
import { legacyCall, modernCall } from './clients.js';

const link = memory();
await using _served = await serve(server, link);
const call = { name: 'book_table', arguments: { restaurant: 'Balboa' } };

const yes = () => ({ action: 'accept', content: { people: 4, window: true } });
const no = () => ({ action: 'decline' });
const nonsense = () => ({ action: 'accept', content: { people: 'a crowd' } });

for (const [era, ask] of [
  ['legacy', legacyCall],
  ['modern', modernCall],
] as const) {
  const booked = await ask(link, call, yes);
  assert.deepEqual(booked.messages, ['For how many people, at Balboa?']);
  assert.equal(booked.text, 'A table for 4 at Balboa, by the window.');

  const declined = await ask(link, call, no);
  assert.equal(declined.text, 'No table was booked.');

  const refused = await ask(link, call, nonsense);
  assert.match(refused.error ?? '', /people/);

  console.log(`${era}: ${booked.messages[0]}`);
  console.log(`        accepted  →  ${booked.text}`);
  console.log(`        declined  →  ${declined.text}`);
  console.log(`        nonsense  →  ${refused.error}`);
}
