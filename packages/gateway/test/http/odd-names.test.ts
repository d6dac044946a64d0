import { expect, it } from 'vitest';
import { rawSocket } from '../../../sdk/test/support/http-server.js';
import { client } from '../support/clients.js';
import { openGateway } from '../support/open-gateway.js';
import { openFar, withTools } from '../support/upstream.js';

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

const namesAt = async (url: string) => (await (await client(url)).listTools()).map((tool) => tool.name);

it('servers with odd names are where their names say', async () => {
  const fars = await Promise.all(ODD.map((name, at) => openFar(withTools(`tool-${at}`), { name })));
  const { at, status } = await openGateway(fars.map((far, index) => far.unit(ODD[index]!)));
  const { servers } = await status();
  expect(Object.keys(servers)).toEqual(ODD);
  for (const [index, name] of ODD.entries()) {
    const { paths } = servers[name]!;
    expect(paths).toHaveLength(2);
    for (const path of paths) expect(await namesAt(at(path)), path).toEqual([`tool-${index}`]);
  }
});

it('servers are found however a client escapes their names', async () => {
  const ways = {
    'c++': '/mcp/c++',
    '@scope/pkg': '/mcp/@scope%2fpkg',
    ü: '/mcp/%c3%bc',
    'My Server': '/mcp/My%20Server',
    plain: '/mcp/%70lain',
    "it's": '/mcp/it%27s',
  };
  const fars = await Promise.all(Object.keys(ways).map((name) => openFar(withTools(`of ${name}`))));
  const { at } = await openGateway(fars.map((far, index) => far.unit(Object.keys(ways)[index]!)));
  for (const [name, path] of Object.entries(ways)) expect(await namesAt(at(path))).toEqual([`of ${name}`]);
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

it('paths that go their own way lead nowhere', async () => {
  const far = await openFar(withTools('one'));
  const { origin } = await openGateway([far.unit('a')]);
  for (const path of [
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
  ]) {
    const socket = await rawSocket(Number(new URL(origin).port));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    await socket.until('an answer', () => socket.status !== undefined);
    expect([400, 404], path).toContain(socket.status);
  }
});
