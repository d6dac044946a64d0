import { describe, expect, it } from 'vitest';
import { within } from '../../../sdk/test/support/http-server.js';
import { client, ERAS } from '../support/clients.js';
import { openGateway } from '../support/open-gateway.js';
import { commandUnit } from '../support/server-definitions.js';
import { openFar, withTools } from '../support/upstream.js';

const HANGS = ['-e', 'setInterval(() => {}, 1000)'];

describe.each(ERAS)('a server that never answers, to a %s client', (era) => {
  async function beside(patienceMs = 200) {
    const good = await openFar((server) => {
      withTools('one')(server);
      server.resource('only://good', { name: 'good' }, () => 'good');
      server.tool('log', {}, () => 'logged');
    });
    const { url } = await openGateway([commandUnit('hangs', HANGS), good.unit('good')], { patienceMs });
    return client(url, era);
  }

  it('costs a call to another nothing', async () => {
    const all = await beside(1000);
    const started = performance.now();
    for (let call = 0; call < 5; call += 1) await all.callTool('good__one');
    expect(performance.now() - started).toBeLessThan(4000);
  });

  it('is an error of its own calls, after the patience', async () => {
    const all = await beside();
    const call = all.callTool('hangs__one').catch((error: unknown) => error);
    expect(await within(15_000, 'the refusal', call)).toMatchObject({
      code: -32603,
      message: 'hangs is still starting; try again later',
      data: { reason: 'TIMED_OUT', sent: 'no' },
    });
  });

  it('costs whoever reads or subscribes at most the patience', async () => {
    const all = await beside();
    expect(await within(15_000, 'the resource', all.readResource('only://good'))).toMatchObject({
      contents: [{ text: 'good' }],
    });
    const changes = await within(
      15_000,
      'the subscription',
      all.listen({ tools: true, uris: ['only://good'] }),
    );
    changes.close();
    if (era === 'legacy') await within(15_000, 'the level', all.setLogLevel('debug'));
  });
});
