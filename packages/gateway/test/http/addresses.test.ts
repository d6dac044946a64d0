import { join } from 'node:path';
import { connect } from '@isthmus/sdk/client';
import { unixSocket } from '@isthmus/sdk/socket';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { ask } from '../../../sdk/test/support/http-server.js';
import { client, ERAS } from '../support/clients.js';
import { freshFolder, openGateway } from '../support/open-gateway.js';
import { openFar, withTools } from '../support/upstream.js';

const namesAt = async (url: string, era: 'legacy' | 'modern') => {
  const connected = await client(url, era);
  return (await connected.listTools()).map(({ name }) => name);
};

describe.each(ERAS)('to a %s client', (era) => {
  it('each server is at /mcp/NAME and /servers/NAME/mcp under its own names, and all are at /mcp', async () => {
    const a = await openFar(withTools('one'), { name: 'A' });
    const b = await openFar(withTools('two'), { name: 'B' });
    const { at } = await openGateway([a.unit('a'), b.unit('b')]);
    expect(await namesAt(at('/mcp/a'), era)).toEqual(['one']);
    expect(await namesAt(at('/servers/a/mcp'), era)).toEqual(['one']);
    expect(await namesAt(at('/mcp/b'), era)).toEqual(['two']);
    expect(await namesAt(at('/servers/b/mcp'), era)).toEqual(['two']);
    expect(await namesAt(at('/mcp'), era)).toEqual(['a__one', 'b__two']);
  });

  it('a slash at the end changes nothing', async () => {
    const a = await openFar(withTools('one'));
    const b = await openFar(withTools('two'));
    const { at } = await openGateway([a.unit('a'), b.unit('b')]);
    expect(await namesAt(at('/mcp/'), era)).toEqual(['a__one', 'b__two']);
    expect(await namesAt(at('/mcp/a/'), era)).toEqual(['one']);
    expect(await namesAt(at('/servers/b/mcp/'), era)).toEqual(['two']);
    expect(await namesAt(at('/mcp/a/?key=of-a-client'), era)).toEqual(['one']);
  });

  it('the only server is at /mcp as it is, and under its name as well', async () => {
    const a = await openFar(withTools('one'), { name: 'A', instructions: 'Be kind.' });
    const { at } = await openGateway([a.unit('a')]);
    for (const path of ['/mcp', '/mcp/a', '/servers/a/mcp']) {
      const connected = await client(at(path), era);
      expect(connected.server.info).toMatchObject({ name: 'A', version: '1' });
      expect(connected.server.instructions).toBe('Be kind.');
      expect((await connected.listTools()).map(({ name }) => name)).toEqual(['one']);
    }
  });
});

it('the main path is that of the address, and the others stay where they are', async () => {
  const a = await openFar(withTools('one'));
  const b = await openFar(withTools('two'));
  const { gateway, origin } = await openGateway([a.unit('a'), b.unit('b')], {
    addresses: ['http://127.0.0.1:0/everything/here'],
  });
  expect(gateway.addresses).toEqual([`${origin}/everything/here`]);
  expect(await namesAt(`${origin}/everything/here`, 'modern')).toEqual(['a__one', 'b__two']);
  expect(await namesAt(`${origin}/mcp/a`, 'modern')).toEqual(['one']);
  expect((await ask(`${origin}/mcp`, { method: 'GET' })).status).toBe(404);
});

it('several HTTP addresses all have everything', async () => {
  const a = await openFar(withTools('one'));
  const b = await openFar(withTools('two'));
  const { gateway } = await openGateway([a.unit('a'), b.unit('b')], {
    addresses: ['http://127.0.0.1:0/mcp', 'http://127.0.0.1:0/other'],
  });
  const [first, second] = gateway.addresses as [string, string];
  expect(await namesAt(first, 'legacy')).toEqual(['a__one', 'b__two']);
  expect(await namesAt(second, 'legacy')).toEqual(['a__one', 'b__two']);
  expect(await namesAt(new URL('/mcp/b', second).href, 'modern')).toEqual(['two']);
});

it.each(ERAS)('a socket has what is at /mcp, and a %s client there hears of each change', async (era) => {
  const a = await openFar(withTools('one'));
  const b = await openFar(withTools('two'));
  const path = join(freshFolder(), 'door');
  const addresses = [`unix:${path}`, 'http://127.0.0.1:0/mcp'];
  const { gateway } = await openGateway([a.unit('a')], { addresses });
  expect(gateway.addresses[0]).toBe(`unix:${path}`);
  const all = await connect(unixSocket(path), { mode: era, cache: false });
  onTestFinished(() => all.close());
  const names = async () => (await all.listTools()).map(({ name }) => name);
  const changes = (await all.listen({ tools: true }))[Symbol.asyncIterator]();
  expect(await names()).toEqual(['one']);
  gateway.apply([a.unit('a'), b.unit('b')]);
  expect((await changes.next()).value).toEqual({ kind: 'tools' });
  await eventually(async () => expect(await names()).toEqual(['a__one', 'b__two']));
  expect(await all.callTool('b__two')).toMatchObject({ content: [{ text: 'two of far' }] });
  gateway.apply([b.unit('b')]);
  expect((await changes.next()).value).toEqual({ kind: 'tools' });
  await eventually(async () => expect(await names()).toEqual(['two']));
});

describe('where nothing is', () => {
  it('the answer is 404, and says where to look', async () => {
    const a = await openFar(withTools('one'));
    const { at, get } = await openGateway([a.unit('a')]);
    const missing = await get('/mcp/nobody?x=1');
    expect([missing.status, missing.headers['content-type'], JSON.parse(missing.text)]).toEqual([
      404,
      'application/json',
      { error: 'There is nothing at /mcp/nobody; /status has the addresses of the servers' },
    ]);
    for (const path of ['/mcp/a/b', '/servers/a', '/servers/mcp', '/mcp/A', '/mcpa', '/status/x']) {
      expect((await get(path)).status, path).toBe(404);
    }
    expect((await ask(at('/nowhere'), { method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(404);
  });

  it('the path is told as text and never as markup', async () => {
    const a = await openFar();
    const { get } = await openGateway([a.unit('a')]);
    const missing = await get('/<script>alert(1)</script>');
    expect([missing.status, missing.headers['content-type']]).toEqual([404, 'application/json']);
    expect(missing.text).not.toContain('<');
  });
});
