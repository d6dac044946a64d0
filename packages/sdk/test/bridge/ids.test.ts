import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import type { Era } from '../support/bridge/frames.js';

const DONE = { resultType: 'complete', content: [] };
const CELLS: [near: Era, far: Era][] = [
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['legacy', 'legacy'],
  ['modern', 'modern'],
];

describe.each(CELLS)('row 17: the ids of a %s client before a %s server', (era, farEra) => {
  async function connected() {
    const between = await bridgeTo(farEra);
    const open = async () => (era === 'legacy' ? between.near.legacy() : between.near.modern());
    return { ...between, open, client: await open() };
  }

  it('come back as they were, with their type; over there they are others (JRPC-006)', async () => {
    const { client, far } = await connected();
    const ids = [0, '', '0', 1, '1', -5, 'ü\n"', 2 ** 53 - 1];
    for (const id of ids) client.call(id, `t${JSON.stringify(id)}`);
    const calls = [];
    for (const _ of ids) calls.push(await far.next());
    expect(new Set(calls.map(({ id }) => id)).size).toBe(ids.length);
    for (const call of calls.reverse()) {
      call.on.answer(call, { ...DONE, content: [{ type: 'text', text: call.params.name }] });
    }
    const answers = [];
    for (const _ of ids) answers.push(await client.next());
    expect(answers.map(({ id, result }) => [id, result.content[0].text])).toEqual(
      [...ids].reverse().map((id) => [id, `t${JSON.stringify(id)}`]),
    );
  });

  it('may be the same as those of another client', async () => {
    const { client, open, far } = await connected();
    const other = await open();
    client.call(1, 'one');
    other.call(1, 'two');
    for (const _ of [1, 2]) {
      const call = await far.next();
      call.on.answer(call, { ...DONE, content: [{ type: 'text', text: call.params.name }] });
    }
    expect((await client.next()).result.content[0].text).toBe('one');
    expect((await other.next()).result.content[0].text).toBe('two');
  });

  it('that are in flight are refused a second time, and the first call goes on (JRPC-004)', async () => {
    const { client, far } = await connected();
    client.call(1, 'a');
    const call = await far.next();
    client.call(1, 'b');
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32600 } });
    expect(await far.rest()).toEqual([]);
    call.on.answer(call, DONE);
    expect((await client.next()).result.content).toEqual([]);
  });

  it('may be used again after the answer, and get the answer of the second', async () => {
    const { client, far } = await connected();
    for (const text of ['one', 'two']) {
      client.call('same', text);
      const call = await far.next();
      call.on.answer(call, { ...DONE, content: [{ type: 'text', text }] });
      expect((await client.next()).result.content[0].text).toBe(text);
    }
  });

  it('of the server mean nothing to the client: an answer to no request is dropped', async () => {
    const { client, far } = await connected();
    client.call('c', 'a');
    const call = await far.next();
    for (const id of ['c', 99, String(call.id)]) call.on.send({ id, result: DONE });
    expect(await client.rest()).toEqual([]);
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe('c');
  });
});

describe('row 17: the ids of questions', () => {
  it.each([0, '', 'q', -1])('of a legacy server, %j, are answered as they were', async (id) => {
    const { near, far } = await bridgeTo('legacy');
    for (const client of [
      await near.legacy({ capabilities: { roots: {} } }),
      near.modern({ capabilities: { roots: {} } }),
    ]) {
      client.call(1, 'a');
      const call = await far.next();
      call.on.ask(id, 'roots/list');
      const asked = await client.next();
      if (asked.method) client.answer(asked, { roots: [] });
      else {
        const { requestState } = asked.result;
        client.call(2, 'a', { requestState, inputResponses: { 'roots-1': { roots: [] } } });
      }
      expect(await far.next()).toEqual({ jsonrpc: '2.0', id, result: { roots: [] } });
      call.on.answer(call, { content: [] });
      await client.next();
    }
  });

  it('of two legacy servers do not meet at one client', async () => {
    const { near, far } = await bridgeTo('legacy');
    const clients = [
      await near.legacy({ capabilities: { roots: {} } }),
      await near.legacy({ capabilities: { roots: {} } }),
    ];
    for (const client of clients) client.call(1, 'a');
    const calls = [await far.next(), await far.next()];
    for (const call of calls) call.on.ask(0, 'roots/list');
    for (const client of clients) client.answer(await client.next(), { roots: [] });
    for (const _ of calls) {
      const answer = await far.next();
      expect(answer.id).toBe(0);
    }
    for (const call of calls) call.on.answer(call, { content: [] });
    for (const client of clients) expect((await client.next()).id).toBe(1);
  });
});
