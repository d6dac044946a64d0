import { describe, expect, it } from 'vitest';
import { client, ERAS, official } from '../support/clients.js';
import { openGateway } from '../support/open-gateway.js';
import { openFar, withTools } from '../support/upstream.js';

const LONG = 'long'.repeat(32);

async function gatewayOf(servers: Readonly<Record<string, readonly string[]>>) {
  const units = await Promise.all(
    Object.entries(servers).map(async ([name, tools]) =>
      (
        await openFar(
          (server) => {
            withTools(...tools)(server);
            for (const tool of tools) server.prompt(tool, {}, () => `${tool} of ${server.info.name}`);
          },
          { name },
        )
      ).unit(name),
    ),
  );
  return openGateway(units);
}

describe.each(ERAS)('to a %s client', (era) => {
  it('servers with names that no tool may have give legal names, and each leads to its server', async () => {
    const odd = ['My Server', '../x', 'a/b', 'ü', '日本', '@scope/pkg', '__proto__', 'plain'];
    const { url } = await gatewayOf(Object.fromEntries(odd.map((name) => [name, ['who']])));
    const all = await client(url, era);
    const names = (await all.listTools()).map(({ name }) => name);
    expect(names).toEqual([
      'My_Server__who',
      '.._x__who',
      'a_b__who',
      'u__who',
      'server__who',
      'scope_pkg__who',
      '__proto____who',
      'plain__who',
    ]);
    expect((await all.listPrompts()).map(({ name }) => name)).toEqual(names);
    for (const [index, name] of names.entries()) {
      const text = `who of ${odd[index]}`;
      expect(await all.callTool(name)).toMatchObject({ content: [{ text }] });
      expect(await all.getPrompt(name)).toMatchObject({ messages: [{ content: { text } }] });
    }
  });

  it('servers whose names come out the same are numbered, and a name that needs no change is kept', async () => {
    const { url } = await gatewayOf({ 'a b': ['one'], 'a/b': ['two'], a_b: ['three'], 'a_b-2': ['four'] });
    const all = await client(url, era);
    const names = (await all.listTools()).map(({ name }) => name);
    expect(names).toEqual(['a_b-3__one', 'a_b-4__two', 'a_b__three', 'a_b-2__four']);
    expect(await all.callTool('a_b-4__two')).toMatchObject({ content: [{ text: 'two of a/b' }] });
  });

  it('a name that would be too long is cut, and is known to a client that has not seen the list', async () => {
    const { url } = await gatewayOf({ first: [LONG], second: [LONG], third: ['short'] });
    const names = (await (await client(url, era)).listTools()).map(({ name }) => name);
    expect(names.map(({ length }) => length)).toEqual([128, 128, 12]);
    expect(names[0]).toMatch(/^first__longlong.*-[0-9a-f]{8}$/);
    const again = await gatewayOf({ first: [LONG], second: [LONG], third: ['short'] });
    const stranger = await client(again.url, era);
    expect(await stranger.callTool(names[1]!)).toMatchObject({ content: [{ text: `${LONG} of second` }] });
    expect(await stranger.getPrompt(names[0]!)).toMatchObject({
      messages: [{ content: { text: `${LONG} of first` } }],
    });
    const wrong = names[0]!.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    await expect(stranger.callTool(wrong)).rejects.toMatchObject({ code: -32602 });
  });

  it('tools that would have the same name are told apart', async () => {
    const { url } = await gatewayOf({ a: ['b__x', 'c'], a__b: ['x'] });
    const all = await client(url, era);
    const names = (await all.listTools()).map(({ name }) => name);
    expect(names).toEqual([expect.stringMatching(/^a__b__x-[0-9a-f]{8}$/), 'a__c', 'a__b__x']);
    expect(await all.callTool('a__b__x')).toMatchObject({ content: [{ text: 'x of a__b' }] });
    expect(await all.callTool(names[0]!)).toMatchObject({ content: [{ text: 'b__x of a' }] });
  });
});

it.each(['v1', 'v2-modern'] as const)(
  'an official client (%s) calls tools under all these names',
  async (kind) => {
    const { url } = await gatewayOf({ 'My Server': ['who'], a: ['b__x'], a__b: ['x'], last: [LONG] });
    const all = await official(kind, url);
    const texts = ['who of My Server', 'b__x of a', 'x of a__b', `${LONG} of last`];
    for (const [index, name] of (await all.tools()).entries()) {
      expect(name).toMatch(/^[A-Za-z0-9_.-]{1,128}$/);
      expect((await all.call(name)).content).toEqual([{ type: 'text', text: texts[index] }]);
    }
  },
);
