import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';

const DONE = { resultType: 'complete', content: [] };
const call = (id: number, name: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});

describe('row 18: batches', () => {
  it('of a 2025-03-26 client are taken apart, and each element is answered (JRPC-017)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ revision: '2025-03-26' });
    client.send([
      call(1, 'a'),
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 77 } },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
      call(3, 'b'),
    ]);
    const calls = [await far.next(), await far.next()];
    expect(calls.map(({ params }) => params.name)).toEqual(['a', 'b']);
    for (const each of calls.reverse()) each.on.answer(each, DONE);
    const answers = [await client.next(), await client.next(), await client.next()];
    expect(answers.map(({ id }) => id)).toEqual([2, 3, 1]);
  });

  it('may hold answers to questions', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ revision: '2025-03-26', capabilities: { roots: {}, sampling: {} } });
    client.call(1, 'a');
    const first = await far.next();
    const sample = { messages: [], maxTokens: 1 };
    const inputRequests = {
      r: { method: 'roots/list' },
      s: { method: 'sampling/createMessage', params: sample },
    };
    first.on.answer(first, { resultType: 'input_required', inputRequests });
    const [roots, sampling] = [await client.next(), await client.next()];
    const sampled = { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' };
    client.send([
      { jsonrpc: '2.0', id: roots.id, result: { roots: [] } },
      { jsonrpc: '2.0', id: sampling.id, result: sampled },
    ]);
    const retry = await far.next();
    expect(retry.params.inputResponses).toEqual({ r: { roots: [] }, s: sampled });
    retry.on.answer(retry, DONE);
    expect((await client.next()).id).toBe(1);
  });

  it('never hold initialize (INIT-007)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = near.raw();
    const clientInfo = { name: 'near', version: '1' };
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
    client.send([{ jsonrpc: '2.0', id: 1, method: 'initialize', params }]);
    expect(await client.next()).toMatchObject({ error: { code: -32600 } });
    // An array has no id that its refusal could name.
    client.frames.splice(0);
    expect((await client.handshake('2025-03-26')).result.protocolVersion).toBe('2025-03-26');
    client.send([{ jsonrpc: '2.0', id: 2, method: 'initialize', params }]);
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32600 } });
    expect((await far.rest()).length).toBe(0);
  });

  it.each(['2024-11-05', '2025-06-18', '2025-11-25'] as const)(
    'are refused from a %s client (JRPC-019)',
    async (revision) => {
      const { near, far } = await bridgeTo('modern');
      const client = await near.legacy({ revision });
      client.send([call(1, 'a')]);
      expect(await client.next()).toMatchObject({ error: { code: -32600 } });
      // An array has no id that its refusal could name.
      client.frames.splice(-2);
      expect(await far.rest()).toEqual([]);
    },
  );

  it('of a legacy server are taken apart, and none is ever sent there (JRPC-018)', async () => {
    const { near, far } = await bridgeTo('legacy', { revision: '2025-03-26' });
    const client = near.modern({ capabilities: { roots: {} } });
    client.call(1, 'a', {}, { progressToken: 't' });
    client.call(2, 'b');
    const [one, two] = [await far.next(), await far.next()];
    one.on.batch([
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: one.params._meta.progressToken, progress: 1 },
      },
      { jsonrpc: '2.0', id: two.id, result: { content: [{ type: 'text', text: 'two' }] } },
      { jsonrpc: '2.0', id: one.id, result: { content: [{ type: 'text', text: 'one' }] } },
    ]);
    expect((await client.next()).params).toEqual({ progressToken: 't', progress: 1 });
    expect((await client.next()).result.content[0].text).toBe('two');
    expect((await client.next()).result.content[0].text).toBe('one');
  });
});
