import { jsonSchema } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { ask, modern, modernCall } from '../../../sdk/test/support/http-server.js';
import { client, official } from '../support/clients.js';
import { openGateway } from '../support/open-gateway.js';
import { openFar, withTools } from '../support/upstream.js';

/** A tool whose argument travels in a header as well. */
async function mirrored() {
  const input = jsonSchema<{ region: string }>({
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  });
  const far = await openFar((server) => {
    server.tool('where', { input }, ({ region }) => `in ${region}`);
  });
  const other = await openFar(withTools('where'));
  return openGateway([other.unit('other'), far.unit('far')]);
}

describe('an argument with x-mcp-header, at the address of all servers', () => {
  it('is sent in its header by our client, and by the official one', async () => {
    const { url } = await mirrored();
    const own = await client(url);
    await own.listTools();
    expect(await own.callTool('far__where', { region: 'Zürich' })).toMatchObject({
      content: [{ text: 'in Zürich' }],
    });
    const theirs = await official('v2-modern', url);
    await theirs.tools();
    expect((await theirs.call('far__where', { region: 'eu' })).content).toEqual([
      { type: 'text', text: 'in eu' },
    ]);
  });

  it('must be the same in both places, once the tools have been listed (-32020)', async () => {
    const { url, at } = await mirrored();
    await ask(url, modern(1, 'tools/list'));
    for (const [place, name] of [
      [url, 'far__where'],
      [at('/mcp/far'), 'where'],
    ] as const) {
      const call = (header: string | undefined) =>
        ask(place, modernCall(1, name, { region: 'eu' }, { headers: { 'mcp-param-region': header } }));
      const right = await call('eu');
      expect([right.status, right.json.result?.content[0].text]).toEqual([200, 'in eu']);
      for (const wrong of ['us', undefined]) {
        const refused = await call(wrong);
        expect([refused.status, refused.json.error?.code]).toEqual([400, -32020]);
      }
    }
  });

  it('is nothing to the tool of the same name of another server', async () => {
    const { url } = await mirrored();
    await ask(url, modern(1, 'tools/list'));
    const answer = await ask(url, modernCall(1, 'other__where', {}));
    expect([answer.status, answer.json.result?.content[0].text]).toEqual([200, 'where of far']);
  });
});
