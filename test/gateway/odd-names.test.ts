import { describe, expect, it } from 'vitest';
import { rawSocket } from '../http-server/support.js';
import { client } from './support/clients.js';
import { openFar, withTools } from './support/far.js';
import { openGateway } from './support/open.js';

const ODD = [
  'My Server',
  '../x',
  'a/b',
  'ü',
  'c++',
  '@scope/pkg',
  'a:b;c,d=e&f$g',
  "it's (not) *that* odd!",
  '100%',
  '%2e',
  'a?b#c',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'mcp',
  'sse',
  'message',
  'status',
] as const;

describe('a server with an odd name', () => {
  it.each(ODD)('is where its name says: %s', async (name) => {
    const odd = await openFar(withTools('one'), { name: 'Odd' });
    const plain = await openFar(withTools('two'), { name: 'Plain' });
    const { at, status } = await openGateway([odd.unit(name), plain.unit('plain')]);
    const { servers } = await status();
    expect(Object.keys(servers)).toEqual([name, 'plain']);
    const { paths } = servers[name]!;
    expect(paths).toHaveLength(2);
    for (const path of paths) {
      const connected = await client(at(path));
      expect(
        (await connected.listTools()).map((tool) => tool.name),
        path,
      ).toEqual(['one']);
    }
    const neighbour = await client(at('/mcp/plain'));
    expect((await neighbour.listTools()).map((tool) => tool.name)).toEqual(['two']);
  });

  it.each([
    ['c++', '/mcp/c++'],
    ['@scope/pkg', '/mcp/@scope%2fpkg'],
    ['ü', '/mcp/%c3%bc'],
    ['My Server', '/mcp/My%20Server'],
    ['plain', '/mcp/%70lain'],
    ["it's", '/mcp/it%27s'],
  ])('is found however the client writes it: %s at %s', async (name, path) => {
    const odd = await openFar(withTools('one'));
    const other = await openFar(withTools('two'));
    const { at } = await openGateway([odd.unit(name), other.unit('other')]);
    const connected = await client(at(path));
    expect((await connected.listTools()).map((tool) => tool.name)).toEqual(['one']);
  });
});

it('names that begin alike are kept apart', async () => {
  const names = ['a', 'a__b', 'ab', 'A'];
  const fars = await Promise.all(names.map((name) => openFar(withTools('who'), { name: `far-${name}` })));
  const { at } = await openGateway(fars.map((far, index) => far.unit(names[index]!)));
  for (const name of names) {
    const connected = await client(at(`/mcp/${name}`));
    expect(await connected.callTool('who')).toMatchObject({ content: [{ text: `who of far-${name}` }] });
  }
  const all = await client(at('/mcp'));
  expect((await all.listTools()).map((tool) => tool.name)).toEqual([
    'a__who',
    'a__b__who',
    'ab__who',
    'A__who',
  ]);
  for (const name of names) {
    expect(await all.callTool(`${name}__who`)).toMatchObject({ content: [{ text: `who of far-${name}` }] });
  }
});

it.each([
  '/mcp/../status',
  '/mcp/%2e%2e/status',
  '/mcp/..%2fstatus',
  '/servers/../mcp/a',
  '/mcp//a',
  '//mcp/a',
  '/mcp/%zz',
  '/mcp/%',
  '/mcp/a%00',
  '/mcp/%c0%ae%c0%ae',
  'mcp/a',
  'http://elsewhere.example/mcp/b',
])('a path that goes its own way leads nowhere: %s', async (path) => {
  const far = await openFar(withTools('one'));
  const { origin } = await openGateway([far.unit('a')]);
  const socket = await rawSocket(Number(new URL(origin).port));
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
  await socket.until('an answer', () => socket.status !== undefined);
  expect([400, 404]).toContain(socket.status);
});
