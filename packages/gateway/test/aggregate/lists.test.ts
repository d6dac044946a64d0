import type { Server } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { client, ERAS, official } from '../support/clients.js';
import { openGateway } from '../support/open-gateway.js';
import { openFar } from '../support/upstream.js';

/** One of everything, told apart by the word. */
function oneOfEach(word: string) {
  return (server: Server) => {
    server.tool(`${word}-tool`, { description: `a tool of ${word}` }, () => word);
    server.tool('common', {}, () => word);
    server.prompt(`${word}-prompt`, { description: word }, () => word);
    server.prompt('common', {}, () => word);
    server.resource(`${word}://r`, { name: `${word}-resource` }, () => word);
    server.resourceTemplate(`${word}://t/{id}`, { name: `${word}-template` }, () => word);
  };
}

async function three(options = {}) {
  const far = async (word: string) => openFar(oneOfEach(word), { name: word });
  const [zebra, ape, mole] = [await far('zebra'), await far('ape'), await far('mole')];
  return openGateway([zebra.unit('z'), ape.unit('a'), mole.unit('m')], options);
}

describe.each(ERAS)('the lists of all servers, to a %s client', (era) => {
  it('hold what each of them has, in the order of the configuration', async () => {
    const { url } = await three();
    const all = await client(url, era);
    expect((await all.listTools()).map(({ name }) => name)).toEqual([
      ...['z__zebra-tool', 'z__common'],
      ...['a__ape-tool', 'a__common'],
      ...['m__mole-tool', 'm__common'],
    ]);
    expect((await all.listPrompts()).map(({ name }) => name)).toEqual([
      ...['z__zebra-prompt', 'z__common'],
      ...['a__ape-prompt', 'a__common'],
      ...['m__mole-prompt', 'm__common'],
    ]);
    expect((await all.listResources()).map(({ uri }) => uri)).toEqual(['zebra://r', 'ape://r', 'mole://r']);
    expect((await all.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      'zebra://t/{id}',
      'ape://t/{id}',
      'mole://t/{id}',
    ]);
  });

  it('are the same every time, whoever answers first', async () => {
    const { url } = await three();
    const all = await client(url, era, { cache: false });
    const lists = await Promise.all(Array.from({ length: 10 }, () => all.request('tools/list')));
    expect(new Set(lists.map((list) => JSON.stringify(list['tools']))).size).toBe(1);
  });

  it('change nothing about an entry but its name', async () => {
    const { url, at } = await three();
    const own = await (await client(at('/mcp/a'), era)).listTools();
    const all = await (await client(url, era)).listTools();
    expect(all.slice(2, 4)).toEqual(own.map((tool) => ({ ...tool, name: `a__${tool.name}` })));
  });

  it('have another separator where that is wanted', async () => {
    const { url } = await three({ separator: '.' });
    const all = await client(url, era);
    expect((await all.listTools()).map(({ name }) => name)).toContain('a.ape-tool');
    expect(await all.callTool('m.common')).toMatchObject({ content: [{ text: 'mole' }] });
    expect(await all.getPrompt('a.common')).toMatchObject({ messages: [{ content: { text: 'ape' } }] });
    await expect(all.callTool('m__common')).rejects.toMatchObject({ code: -32602 });
  });
});

describe.each(['v1', 'v2-modern', 'v2-auto', 'v2-legacy'] as const)('an official client (%s)', (kind) => {
  it('finds everything, and calls, gets and reads it', async () => {
    const { url } = await three();
    const all = await official(kind, url);
    expect(await all.tools()).toContain('m__mole-tool');
    expect(await all.prompts()).toContain('z__common');
    expect(await all.resources()).toEqual(['zebra://r', 'ape://r', 'mole://r']);
    expect(await all.templates()).toContain('ape://t/{id}');
    expect((await all.call('a__common')).content).toEqual([{ type: 'text', text: 'ape' }]);
    expect(await all.prompt('m__common', {})).toMatchObject([{ content: { text: 'mole' } }]);
    expect(await all.read('zebra://r')).toMatchObject([{ text: 'zebra' }]);
    expect(await all.read('mole://t/7')).toMatchObject([{ text: 'mole' }]);
    expect(all.serverName).toBe('isthmus');
    expect(all.complaints).toEqual([]);
  });
});

it('an unknown name is an error of the caller', async () => {
  const { url } = await three();
  const all = await client(url);
  for (const name of ['nobody__common', 'common', 'z_common', '__common', 'z__', '', 'Z__common']) {
    await expect(all.callTool(name), name).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Unknown tool'),
    });
    await expect(all.getPrompt(name), name).rejects.toMatchObject({ code: -32602 });
  }
});
