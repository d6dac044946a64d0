import { join } from 'node:path';
import type { Client } from '@isthmus/sdk/client';
import { describe, expect, it } from 'vitest';
import { eventually, until } from '../../../../test/support/until.js';
import { client, ERAS, type Era, official } from '../support/clients.js';
import { freshFolder, openGateway } from '../support/open-gateway.js';
import { fixtureUnit, socketUnit } from '../support/server-definitions.js';
import { openFar, withTools } from '../support/upstream.js';

/** Counts how often a client is told that the tools are others. */
async function hearing(all: Client): Promise<{ count: number }> {
  const heard = { count: 0 };
  const changes = await all.listen({ tools: true });
  void (async () => {
    for await (const change of changes) if (change.kind === 'tools') heard.count += 1;
  })().catch(() => {});
  return heard;
}

const names = async (all: Client) => (await all.listTools()).map(({ name }) => name);

/** A client that has been told of this list, and does not see it otherwise before it is told. */
async function listener(url: string, era: Era) {
  const all = await client(url, era);
  const heard = await hearing(all);
  return { all, heard };
}

describe.each(ERAS)('a %s client that listens is told', (era) => {
  it('when a server comes that could not be reached', async () => {
    const path = join(freshFolder(), 's');
    const good = await openFar(withTools('one'));
    const { url, gateway } = await openGateway([socketUnit('late', `unix:${path}`), good.unit('good')]);
    await gateway
      .unit('late')
      .start()
      .catch(() => {});
    const { all, heard } = await listener(url, era);
    expect(await names(all)).toEqual(['good__one']);
    const before = heard.count;
    await openFar(withTools('two'), { path });
    await gateway.unit('late').restart();
    await until('it was told', () => heard.count > before);
    expect(await names(all)).toEqual(['late__two', 'good__one']);
  });

  it('when a server has taken longer to start than anybody waited for it', async () => {
    const good = await openFar(withTools('one'));
    const slow = fixtureUnit('slow', 'server-slow-boot.mjs', ['1200', era]);
    const { url } = await openGateway([slow, good.unit('good')], { patienceMs: 300 });
    const { all, heard } = await listener(url, era);
    expect(await names(all)).toEqual(['good__one']);
    const before = heard.count;
    await until('it was told', () => heard.count > before, 5000);
    expect(await names(all)).toEqual(['slow__echo', 'good__one']);
  });

  it('when a server is switched off and on again, and of its own changes after that', async () => {
    const a = await openFar(withTools('one'));
    const b = await openFar(withTools('two'));
    const { url, gateway } = await openGateway([a.unit('a'), b.unit('b')]);
    const { all, heard } = await listener(url, era);
    expect(await names(all)).toEqual(['a__one', 'b__two']);
    let before = heard.count;
    await gateway.unit('a').switch(false);
    await until('that it went', () => heard.count > before);
    expect(await names(all)).toEqual(['b__two']);
    before = heard.count;
    await gateway.unit('a').switch(true);
    await until('that it came', () => heard.count > before);
    expect(await names(all)).toEqual(['a__one', 'b__two']);
    before = heard.count;
    a.server.tool('three', {}, () => 'three');
    await until('of its own change', () => heard.count > before, 5000);
    expect(await names(all)).toEqual(['a__one', 'a__three', 'b__two']);
  });

  it('of the changes of each server', async () => {
    const a = await openFar(withTools('one'));
    const b = await openFar(withTools('two'));
    const { url } = await openGateway([a.unit('a'), b.unit('b')]);
    const { all, heard } = await listener(url, era);
    for (const far of [a, b]) {
      const before = heard.count;
      // A legacy session is listened for when it has begun: when, nobody is told.
      await eventually(() => {
        far.server.tool('more', {}, () => 'more').remove();
        expect(heard.count).toBeGreaterThan(before);
      });
    }
    expect(await names(all)).toEqual(['a__one', 'b__two']);
  });
});

describe.each(['v1', 'v2-modern'] as const)('an official client (%s)', (kind) => {
  it('is told that a server has come', async () => {
    const path = join(freshFolder(), 's');
    const good = await openFar(withTools('one'));
    const { url, gateway } = await openGateway([socketUnit('late', `unix:${path}`), good.unit('good')]);
    await gateway
      .unit('late')
      .start()
      .catch(() => {});
    const all = await official(kind, url);
    await all.watch({ list: 'tools' });
    expect(await all.tools()).toEqual(['good__one']);
    const changes = () =>
      all.notifications.filter(({ method }) => method === 'notifications/tools/list_changed');
    const before = changes().length;
    await openFar(withTools('two'), { path });
    await gateway.unit('late').restart();
    await eventually(() => expect(changes().length).toBeGreaterThan(before));
    expect(await all.tools()).toEqual(['late__two', 'good__one']);
  });
});
