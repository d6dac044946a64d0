import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answered, bridgeAt } from '../../packages/sdk/test/support/bridge/bridge-at-url.js';
import { modern } from '../../packages/sdk/test/support/http-server.js';
import { type Bridge, startBridge } from '../bridge-matrix/bridge.js';
import { connectV2, MODERN } from '../support/official-v2.js';

const FASTMCP = fileURLToPath(new URL('programs/fastmcp-server.mjs', import.meta.url));

describe('an error of a server behind the bridge, over modern HTTP', () => {
  it('P2: an unknown tool of a real fastmcp server reaches the official v2 client as -32601, not as a transport failure', async () => {
    const bridge = await startBridge('http', { command: process.execPath, args: [FASTMCP] });
    onTestFinished(async () => void (await bridge.close()));
    const { client, statuses } = await officialClient(bridge);
    const sum = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } });
    expect(sum.content).toEqual([{ type: 'text', text: '5' }]);
    statuses.length = 0;
    const failure = await client
      .callTool({ name: 'nothing', arguments: {} })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ProtocolError', code: -32601 });
    expect(statuses).toEqual([200]);
  });

  it.each([
    [200, -32601, 'tools/call', { name: 'nothing' }],
    [200, -32600, 'tools/call', { name: 'nothing' }],
    [200, -32700, 'prompts/get', { name: 'nothing' }],
    [200, -32601, 'resources/read', { uri: 'no://where' }],
    [200, -32601, 'resources/templates/list', {}],
    [404, -32601, 'acme/extension', {}],
  ])(
    'P2: has HTTP status %i where the server answers %i to %s (ERR-016)',
    async (status, code, method, params) => {
      const { far, post } = await bridgeAt('legacy');
      const reading = post(modern(1, method, params));
      const asked = await far.next();
      asked.on.refuse(asked, code, 'no such thing');
      const stream = await reading;
      expect([stream.status, (await answered(stream)).error?.code]).toEqual([status, code]);
    },
  );

  it('P2: has HTTP status 404 where the capability of the method is not declared (ERR-015, ERR-016)', async () => {
    const { post, far } = await bridgeAt('legacy', { capabilities: { tools: {} } });
    const stream = await post(modern(1, 'prompts/get', { name: 'a' }));
    expect([stream.status, (await answered(stream)).error?.code]).toEqual([404, -32601]);
    expect(await far.rest()).toEqual([]);
  });
});

async function officialClient({ address }: Bridge) {
  if (!('url' in address)) throw new Error('the bridge listens on HTTP');
  const statuses: number[] = [];
  const { client } = await connectV2(address, {
    mode: MODERN,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      statuses.push(response.status);
      return response;
    },
  });
  onTestFinished(() => client.close());
  return { client, statuses };
}
