import { describe, expect, it } from 'vitest';
import { bridgeToHost } from '../bridge/support/between-host.js';

const DONE = { content: [] };

/** A modern client before a legacy server whose process is shared: it lacks what the server asks for. */
describe('P7: a call that fails because its client cannot be asked', () => {
  it.each([
    ['tools/call', { name: 'a' }],
    ['prompts/get', { name: 'a' }],
    ['resources/read', { uri: 'a://1' }],
  ])('is refused with -32021, also %s', async (method, params) => {
    const capabilities = { tools: {}, prompts: {}, resources: {} };
    const { near, far } = await bridgeToHost('legacy', { capabilities });
    const client = near.modern();
    client.request(1, method, params);
    const call = await far.next();
    call.on.ask('q', 'sampling/createMessage', { messages: [], maxTokens: 1 });
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32601 } });
    if (method === 'tools/call') call.on.answer(call, { ...DONE, isError: true });
    else call.on.refuse(call, -32603, 'I could not ask');
    expect(await client.next()).toMatchObject({
      id: 1,
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
  });
});
