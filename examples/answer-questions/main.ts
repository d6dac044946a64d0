// What a client does when the server asks is declared once. It serves both eras: requests that a legacy server
// sends in the midst of a call, and the rounds of a modern one.
import assert from 'node:assert/strict';
import { type Answers, connect, memory } from 'isthmus';
import { server } from './server.js';

const asked: string[] = [];
const answers: Answers = {
  async elicit(question) {
    asked.push(question.message);
    return { action: 'accept', content: { city: 'Panama' } };
  },
  async sample({ messages }) {
    asked.push(`a sample of ${messages.length}`);
    return {
      role: 'assistant',
      content: { type: 'text', text: 'The road is home.' },
      model: 'your-model',
    };
  },
  roots: [{ uri: 'file:///home/ada/trips', name: 'trips' }],
};

for (const mode of ['modern', 'legacy']) {
  asked.length = 0;
  await using client = await connect(memory(server), { mode, answers });
  const result = await client.callTool('plan_trip');
  console.log(`${client.era}: asked for ${asked.join(' and ')}`);
  console.log(`        → ${JSON.stringify(result.content)}`);
  assert.deepEqual([...asked].sort(), ['Where to?', 'a sample of 1']);
  assert.deepEqual(result.content, [{ type: 'text', text: 'To Panama, notes in trips. The road is home.' }]);
}

// With `manual` the rounds of a modern server are the caller's: to show them later, or elsewhere.
await using client = await connect(memory(server), { mode: 'modern', answers });
const round = await client.callTool('plan_trip', {}, { manual: true });
assert(round.resultType === 'input_required');
const { inputRequests = {}, requestState } = round;
console.log(
  `manual: ${Object.values(inputRequests)
    .map(({ method }) => method)
    .join(', ')}`,
);

const inputResponses = Object.fromEntries(
  Object.entries(inputRequests).map(([key, { method }]) => {
    if (method === 'elicitation/create') return [key, { action: 'decline' as const }];
    if (method === 'roots/list') return [key, { roots: [] }];
    return [
      key,
      { role: 'assistant' as const, content: { type: 'text' as const, text: '-' }, model: 'none' },
    ];
  }),
);
const done = await client.callTool('plan_trip', {}, { manual: true, inputResponses, requestState });
assert(done.resultType !== 'input_required');
assert.deepEqual(done.content, [{ type: 'text', text: 'Staying at home.' }]);
