import { describe, expect, it, onTestFinished } from 'vitest';
import { type ClientV1, connectV1 } from '../../../../test/support/official-v1.js';
import { ask, legacy, open } from '../../../sdk/test/support/http-server.js';
import { openGateway } from '../support/open-gateway.js';
import { openFar, withTools } from '../support/upstream.js';

/** The official client of the transport of 2024-11-05. */
async function sseClient(url: string): Promise<ClientV1> {
  const { client } = await connectV1({ url, transport: 'sse' });
  onTestFinished(() => client.close());
  return client;
}

const namesOf = async (client: ClientV1) => (await client.listTools()).tools.map(({ name }) => name);

describe('the transport of 2024-11-05', () => {
  it('is beside each server and beside all of them', async () => {
    const a = await openFar(withTools('one'), { name: 'A' });
    const b = await openFar(withTools('two'), { name: 'B' });
    const { at } = await openGateway([a.unit('a'), b.unit('b')]);
    expect(await namesOf(await sseClient(at('/mcp/a/sse')))).toEqual(['one']);
    expect(await namesOf(await sseClient(at('/servers/b/sse')))).toEqual(['two']);
    expect(await namesOf(await sseClient(at('/mcp/b/sse/')))).toEqual(['two']);
    const all = await sseClient(at('/sse'));
    expect(await namesOf(all)).toEqual(['a__one', 'b__two']);
    expect(await all.callTool({ name: 'b__two' })).toMatchObject({ content: [{ text: 'two of B' }] });
  });

  it('of the only server is at /sse', async () => {
    const a = await openFar(withTools('one'), { name: 'A' });
    const { at } = await openGateway([a.unit('a')]);
    const client = await sseClient(at('/sse'));
    expect(await client.callTool({ name: 'one' })).toMatchObject({ content: [{ text: 'one of A' }] });
  });

  it.each(['mcp', 'sse', 'message', 'My Server', 'a/b', 'ü', 'c++'])(
    'is beside a server that is called %s',
    async (name) => {
      const names = [name, 'sse', 'message', 'mcp'].filter((each, at, all) => all.indexOf(each) === at);
      const fars = await Promise.all(names.map((each) => openFar(withTools('who'), { name: each })));
      const { at, status } = await openGateway(fars.map((far, index) => far.unit(names[index]!)));
      const [path, alias] = (await status()).servers[name]!.paths as [string, string];
      for (const place of [`${path}/sse`, `${alias.slice(0, -'/mcp'.length)}/sse`]) {
        const client = await sseClient(at(place));
        expect(await client.callTool({ name: 'who' }), place).toMatchObject({
          content: [{ text: `who of ${name}` }],
        });
      }
    },
  );

  it('names a place for messages that is its own, and takes no messages of others', async () => {
    const a = await openFar(withTools('one'));
    const b = await openFar(withTools('two'));
    const { at } = await openGateway([a.unit('a'), b.unit('b')]);
    const headers = { accept: 'text/event-stream' };
    const stream = await open(at('/mcp/a/sse'), { method: 'GET', headers });
    await stream.until('the endpoint', () => stream.events.length > 0);
    expect(stream.events[0]!.data!).toMatch(/^message\?/);
    const place = `/mcp/a/${stream.events[0]!.data!}`;
    const elsewhere = place.replace('/mcp/a/', '/mcp/b/');
    const ping = legacy({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect((await ask(at(elsewhere), ping)).status).toBe(404);
    expect((await ask(at(place), ping)).status).toBe(202);
  });
});
