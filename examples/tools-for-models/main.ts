// The tools of several servers as one list, handed to a language model. A function plays the model here: it answers as the
// Messages API of Anthropic does. `isthmus/llm` has the same for OpenAI and for the AI SDK.
import assert from 'node:assert/strict';
import { createHost, createServer, http, serve } from 'isthmus';
import { type AnthropicTool, callAnthropicTool, toAnthropicTools } from 'isthmus/llm';
import { z } from 'zod';

const weather = createServer({ name: 'weather', version: '1.0.0' });
weather.tool(
  'forecast',
  { description: 'The weather', input: z.object({ city: z.string() }) },
  ({ city }) => `Sunny in ${city}`,
);
const clock = createServer({ name: 'clock', version: '1.0.0' });
clock.tool('now', { description: 'The time' }, () => 'noon');
await using weatherServed = await serve(weather, http({ port: 0 }));
await using clockServed = await serve(clock, http({ port: 0 }));

await using host = createHost({
  servers: { weather: { url: weatherServed.addresses[0]! }, clock: { url: clockServed.addresses[0]! } },
  cache: false,
});
await using tools = await host.tools();
const offered = toAnthropicTools(tools);
console.log(`offered: ${offered.map(({ name }) => name).join(', ')}`);
assert.deepEqual(
  offered.map(({ name }) => name),
  ['weather__forecast', 'clock__now'],
);

for (const use of askModel(offered)) {
  const result = await callAnthropicTool(tools, use);
  console.log(JSON.stringify(result));
  assert.deepEqual(result, {
    type: 'tool_result',
    tool_use_id: 'use_1',
    content: [{ type: 'text', text: 'Sunny in Oslo' }],
  });
}

/** Stands for the API. A real model gets the tools and returns such blocks. */
function askModel(known: readonly AnthropicTool[]) {
  return [{ id: 'use_1', name: known[0]!.name, input: { city: 'Oslo' } }];
}
