import { describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/until.js';
import { openGateway } from './support/open-gateway.js';
import { echoEntry, serveFile } from './support/serve-file.js';
import { urlUnit } from './support/server-definitions.js';
import { openFar, withTools } from './support/upstream.js';

/** What a file may say, and no server can be. */
const BAD = {
  'a password in the URL': { url: 'http://ada:pass-w0rd@127.0.0.1:1/mcp' },
  'a header with a line break': { url: 'http://127.0.0.1:1/mcp', headers: { 'x-a': 'b\r\nx-c: d' } },
  'a header without a name': { url: 'http://127.0.0.1:1/mcp', headers: { 'a b': 'c' } },
  'another scheme': { url: 'ftp://127.0.0.1/mcp' },
  'an address that is none': { url: 'http://' },
  'no command': { args: ['x'] },
  'a folder that is not there': { ...echoEntry(), cwd: '/no/such/folder' },
  'an era that nobody speaks': { ...echoEntry(), mode: '1999-01-01' },
  'an impossible limit': { ...echoEntry(), isthmus: { maxProcesses: 0 } },
};

describe('an invalid entry', () => {
  it('costs its own server and no other, from the beginning', async () => {
    const served = await serveFile({ mcpServers: { ...BAD, good: echoEntry() } });
    await eventually(async () => expect(await served.tools('/mcp/good')).toEqual(['echo']));
    await eventually(async () => {
      const { servers } = await served.status();
      for (const name of Object.keys(BAD)) {
        expect(servers[name], name).toMatchObject({ state: 'failed', reason: expect.any(String) });
      }
    });
    expect(await served.tools('/mcp')).toEqual(['good__echo']);
    expect(JSON.stringify(await served.status())).not.toContain('pass-w0rd');
  });

  it('costs its own server and no other, when it comes later', async () => {
    const served = await serveFile({ mcpServers: { good: echoEntry(), other: echoEntry() } });
    await eventually(async () => expect(await served.get('/readyz')).toBe(200));
    served.write({ mcpServers: { ...BAD, good: echoEntry(), last: echoEntry() } });
    await eventually(async () => expect(await served.tools('/mcp')).toEqual(['good__echo', 'last__echo']));
    expect(served.child.hasEnded).toBe(false);
  });
});

it('a definition that no server can have is refused as a whole, and changes nothing', async () => {
  const good = await openFar(withTools('one'));
  const { gateway, status } = await openGateway([good.unit('good'), good.unit('same')]);
  const bad = urlUnit('bad', 'http://ada:pass-w0rd@127.0.0.1:1/mcp');
  let refusal: unknown;
  try {
    gateway.apply([bad, good.unit('good')]);
  } catch (error) {
    refusal = error;
  }
  const names = Object.keys((await status()).servers);
  if (refusal) expect(names).toEqual(['good', 'same']);
  else expect((await status()).servers['bad']).toMatchObject({ state: 'failed' });
});
