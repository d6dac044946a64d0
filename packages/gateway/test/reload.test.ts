import { describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/until.js';
import { ask, legacyCall, legacyRequest, modern, openSession } from '../../sdk/test/support/http-server.js';
import { client, ERAS } from './support/clients.js';
import { type Opened, openGateway } from './support/open-gateway.js';
import { demoUnit, socketUnit } from './support/server-definitions.js';
import { openFar, withTools } from './support/upstream.js';

const pidsOf = async ({ status }: Opened, name: string) =>
  (await status()).servers[name]!.processes!.processes.map(({ pid }) => pid);

const namesAt = async (url: string) => {
  const { json } = await ask(url, modern(1, 'tools/list'));
  return (json.result.tools as { name: string }[]).map(({ name }) => name);
};

describe('a new configuration', () => {
  it('leaves alone what did not change: the process, the sessions, the subscriptions', async () => {
    const other = await openFar(withTools('one'));
    const third = await openFar(withTools('two'));
    const opened = await openGateway([demoUnit('demo'), other.unit('other')]);
    const { gateway, at, url } = opened;
    const own = await openSession(at('/mcp/demo'));
    const all = await openSession(url);
    const listening = await client(at('/mcp/demo'), 'modern');
    const changes = await listening.listen({ tools: true });
    const heard = changes[Symbol.asyncIterator]().next();
    expect((await own.post(legacyCall(1, 'echo', { text: 'a' }))).json.result.content[0].text).toBe('a');
    const before = await pidsOf(opened, 'demo');
    expect(gateway.apply([third.unit('third'), demoUnit('demo')])).toEqual({
      added: ['third'],
      changed: [],
      removed: ['other'],
      unchanged: ['demo'],
    });
    expect((await own.post(legacyCall(2, 'echo', { text: 'b' }))).json.result.content[0].text).toBe('b');
    expect((await all.post(legacyCall(3, 'demo__echo', { text: 'c' }))).json.result.content[0].text).toBe(
      'c',
    );
    await own.post(legacyCall(4, 'touch'));
    expect((await heard).value).toEqual({ kind: 'tools' });
    expect(await pidsOf(opened, 'demo')).toEqual(before);
    expect(before).toHaveLength(1);
  });

  it('is followed in its order', async () => {
    const fars = await Promise.all(['a', 'b', 'c'].map((name) => openFar(withTools('x'), { name })));
    const units = fars.map((far) => far.unit(far.server.info.name));
    const { gateway, url, status } = await openGateway(units);
    expect(await namesAt(url)).toEqual(['a__x', 'b__x', 'c__x']);
    gateway.apply(units.toReversed());
    expect(await namesAt(url)).toEqual(['c__x', 'b__x', 'a__x']);
    expect(Object.keys((await status()).servers)).toEqual(['c', 'b', 'a']);
    expect(gateway.names).toEqual(['c', 'b', 'a']);
  });

  it('makes what is new appear and what is gone disappear, also from the addresses', async () => {
    const a = await openFar(withTools('one'));
    const b = await openFar(withTools('two'));
    const c = await openFar(withTools('three'));
    const { gateway, get, at } = await openGateway([a.unit('a'), b.unit('b')]);
    gateway.apply([b.unit('b'), c.unit('c')]);
    await eventually(async () => expect(await namesAt(at('/mcp/c'))).toEqual(['three']));
    expect(await namesAt(at('/servers/c/mcp'))).toEqual(['three']);
    await eventually(async () => expect((await get('/mcp/a')).status).toBe(404));
    expect((await get('/servers/a/mcp')).status).toBe(404);
    expect((await get('/mcp/a/sse')).status).toBe(404);
    expect(() => gateway.unit('a')).toThrow('There is no server "a"; there are b, c');
  });

  it('may have nobody in it, and everybody again', async () => {
    const a = await openFar(withTools('one'));
    const b = await openFar(withTools('two'));
    const { gateway, get, url } = await openGateway([a.unit('a'), b.unit('b')]);
    gateway.apply([]);
    expect(await namesAt(url)).toEqual([]);
    expect([
      (await get('/readyz')).status,
      (await get('/status')).status,
      (await get('/healthz')).status,
    ]).toEqual([200, 503, 200]);
    gateway.apply([a.unit('a'), b.unit('b')]);
    expect(await namesAt(url)).toEqual(['a__one', 'b__two']);
  });

  it('may turn one server into several and back; /mcp is what the number says', async () => {
    const a = await openFar(withTools('one'), { name: 'A' });
    const b = await openFar(withTools('two'), { name: 'B' });
    const { gateway, url } = await openGateway([a.unit('a')]);
    expect(await namesAt(url)).toEqual(['one']);
    const session = await openSession(url);
    gateway.apply([a.unit('a'), b.unit('b')]);
    await eventually(async () => expect(await namesAt(url)).toEqual(['a__one', 'b__two']));
    // What was a session with one server is none with all of them: a client of 2025-11-25 opens another.
    expect((await session.post(legacyRequest(1, 'tools/list'))).status).toBe(404);
    const all = await openSession(url);
    gateway.apply([b.unit('b')]);
    await eventually(async () => expect(await namesAt(url)).toEqual(['two']));
    expect((await all.post(legacyRequest(1, 'tools/list'))).status).toBe(404);
    expect(await namesAt(url.replace('/mcp', '/mcp/b'))).toEqual(['two']);
  });

  it.each(ERAS)('is told to a %s client of all servers', async (era) => {
    const a = await openFar((server) => {
      server.tool('one', {}, () => 'one');
      server.prompt('one', {}, () => 'one');
      server.resource('one://1', { name: 'one' }, () => 'one');
    });
    const b = await openFar(withTools('two'));
    const c = await openFar(withTools('three'));
    const { gateway, url } = await openGateway([a.unit('a'), b.unit('b')]);
    const all = await client(url, era);
    const changes = (await all.listen({ tools: true, prompts: true, resources: true }))[
      Symbol.asyncIterator
    ]();
    for (const units of [
      [a.unit('a'), b.unit('b'), c.unit('c')],
      [c.unit('c'), a.unit('a')],
    ]) {
      const kinds = new Set<string>();
      gateway.apply(units);
      while (kinds.size < 3) kinds.add((await changes.next()).value!.kind);
      expect(kinds).toEqual(new Set(['tools', 'prompts', 'resources']));
    }
  });

  it('may switch a server off and on', async () => {
    const a = await openFar(withTools('one'));
    const opened = await openGateway([demoUnit('demo'), a.unit('a')]);
    const { gateway, get, url, at, status } = opened;
    await eventually(async () => expect((await get('/readyz')).status).toBe(200));
    const [pid] = (await pidsOf(opened, 'demo')) as [number];
    gateway.apply([demoUnit('demo', { disabled: true }), a.unit('a')]);
    await eventually(async () => expect((await status()).servers['demo']).toMatchObject({ state: 'off' }));
    expect(await namesAt(url)).toEqual(['a__one']);
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
    expect((await get('/readyz')).status).toBe(200);
    expect(JSON.stringify((await ask(at('/mcp/demo'), modern(1, 'tools/list'))).json.error)).toContain('off');
    gateway.apply([demoUnit('demo'), a.unit('a')]);
    await eventually(async () => expect((await status()).servers['demo']).toMatchObject({ state: 'ready' }));
    expect(await namesAt(url)).toContain('demo__echo');
  });

  it('may put a command where an address was, and the other way round', async () => {
    const a = await openFar(withTools('one'));
    const opened = await openGateway([a.unit('x'), a.unit('y')]);
    const { gateway, at, status } = opened;
    gateway.apply([demoUnit('x'), a.unit('y')]);
    await eventually(async () => expect(await namesAt(at('/mcp/x'))).toContain('echo'));
    expect((await status()).servers['x']).toMatchObject({ kind: 'command' });
    const [pid] = (await pidsOf(opened, 'x')) as [number];
    gateway.apply([socketUnit('x', a.address), a.unit('y')]);
    await eventually(async () => expect(await namesAt(at('/mcp/x'))).toEqual(['one']));
    expect((await status()).servers['x']).toMatchObject({ kind: 'url', state: 'ready' });
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
  });
});
