import type { Client } from '@isthmus/sdk/client';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { within } from '../../../sdk/test/support/http-server.js';
import { client, ERAS } from '../support/clients.js';
import { openGateway } from '../support/open-gateway.js';
import { commandUnit } from '../support/server-definitions.js';
import { openFar, withTools } from '../support/upstream.js';

const EXITS = ['-e', 'console.error("fatal: no API key"); process.exit(7)'];

interface Listed {
  readonly names: readonly string[];
  readonly absent: readonly { server: string; reason: string }[] | undefined;
}

async function listed(all: Client, method = 'tools/list', key = 'tools'): Promise<Listed> {
  const result = await all.request(method);
  const meta = result['_meta'] as Record<string, unknown> | undefined;
  return {
    names: (result[key] as { name: string }[]).map(({ name }) => name),
    absent: meta?.['isthmus/absent'] as Listed['absent'],
  };
}

describe.each(ERAS)('one bad server among others, to a %s client', (era) => {
  it('that cannot be started is named, with the reason, and holds up nobody', async () => {
    const good = await openFar(withTools('one'));
    const bad = commandUnit('bad', [], { command: '/no/such/program' });
    const { url, gateway } = await openGateway([bad, good.unit('good')]);
    await gateway
      .unit('bad')
      .start()
      .catch(() => {});
    const all = await within(20_000, 'connecting', client(url, era));
    const { names, absent } = await within(20_000, 'the list', listed(all));
    expect(names).toEqual(['good__one']);
    expect(absent).toEqual([{ server: 'bad', reason: expect.stringContaining('ENOENT') }]);
    for (const [method, key] of [
      ['prompts/list', 'prompts'],
      ['resources/list', 'resources'],
      ['resources/templates/list', 'resourceTemplates'],
    ] as const) {
      expect((await listed(all, method, key)).absent, method).toMatchObject([{ server: 'bad' }]);
    }
    expect(await all.callTool('good__one')).toMatchObject({ content: [{ text: 'one of far' }] });
    const refused = await all.callTool('bad__one').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: -32603, message: expect.stringContaining('ENOENT') });
  });

  it('that ends at once is named, with its last stderr lines', async () => {
    const good = await openFar(withTools('one'));
    const { url, gateway } = await openGateway([commandUnit('bad', EXITS), good.unit('good')]);
    await gateway
      .unit('bad')
      .start()
      .catch(() => {});
    const all = await within(20_000, 'connecting', client(url, era));
    const { names, absent } = await within(20_000, 'the list', listed(all));
    expect(names).toEqual(['good__one']);
    expect(absent).toEqual([{ server: 'bad', reason: expect.stringContaining('code 7') }]);
  });

  it.each([
    [false, 'bad stopped with code 7'],
    [true, 'fatal: no API key'],
  ])('tells what it wrote to stderr only to those who run it (%s)', async (tellsStderr, words) => {
    const good = await openFar(withTools('one'));
    const { url, gateway } = await openGateway([commandUnit('bad', EXITS), good.unit('good')], {
      tellsStderr,
    });
    await gateway
      .unit('bad')
      .start()
      .catch(() => {});
    const all = await client(url, era);
    const { absent } = await listed(all);
    expect(absent![0]!.reason).toContain(words);
    expect(absent![0]!.reason.includes('fatal')).toBe(tellsStderr);
  });

  it('that never answers costs the patience and no more', async () => {
    const good = await openFar(withTools('one'));
    const hangs = commandUnit('hangs', ['-e', 'setInterval(() => {}, 1000)']);
    const { url } = await openGateway([hangs, good.unit('good')], { patienceMs: 500 });
    const all = await within(20_000, 'connecting', client(url, era));
    const { names, absent } = await within(20_000, 'the list', listed(all));
    expect(names).toEqual(['good__one']);
    expect(absent).toEqual([{ server: 'hangs', reason: expect.stringMatching(/starting|answer/) }]);
  });

  it('that hangs in the middle of a list costs less than the patience, and is listed again when it answers', async () => {
    const good = await openFar(withTools('one'));
    let hangs = false;
    const bad = await openFar((server) => {
      withTools('two')(server);
      server.use((call, next) => (hangs && call.method === 'tools/list' ? new Promise(() => {}) : next()));
    });
    const { url } = await openGateway([bad.unit('bad'), good.unit('good')], { patienceMs: 2000 });
    const all = await client(url, era);
    expect((await listed(all)).names).toEqual(['bad__two', 'good__one']);
    hangs = true;
    const { names, absent } = await within(20_000, 'the list', listed(all));
    expect(names).toEqual(['good__one']);
    expect(absent).toEqual([{ server: 'bad', reason: 'bad did not answer in time' }]);
    hangs = false;
    await eventually(async () =>
      expect(await listed(all)).toEqual({ names: ['bad__two', 'good__one'], absent: undefined }),
    );
  });

  it('that is switched off is named as such', async () => {
    const good = await openFar(withTools('one'));
    const off = await openFar(withTools('two'));
    const { url } = await openGateway([off.unit('off', { disabled: true }), good.unit('good')]);
    const all = await client(url, era);
    expect(await listed(all)).toEqual({
      names: ['good__one'],
      absent: [{ server: 'off', reason: 'off is switched off' }],
    });
    await expect(all.callTool('off__two')).rejects.toMatchObject({ message: expect.stringContaining('off') });
  });
});
