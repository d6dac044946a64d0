import { resourceNotFound, type Server } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { client, ERAS } from '../support/clients.js';
import { openGateway } from '../support/open-gateway.js';
import { commandUnit } from '../support/server-definitions.js';
import { type Far, openFar } from '../support/upstream.js';

/** A server with these resources, that notes what it is asked to read. */
async function library(
  word: string,
  ...uris: readonly string[]
): Promise<Far & { readonly asked: string[] }> {
  const asked: string[] = [];
  const far = await openFar((server: Server) => {
    server.use((call, next) => {
      if (call.method === 'resources/read') asked.push(String(call.params['uri']));
      return next();
    });
    for (const uri of uris) server.resource(uri, { name: uri }, () => `${uri} of ${word}`);
    server.resourceTemplate(`${word}://{id}`, { name: word }, ({ id }) => {
      if (id === 'missing') throw resourceNotFound(`${word}://missing`);
      return `${String(id)} of ${word}`;
    });
  });
  return Object.assign(far, { asked });
}

describe.each(ERAS)('resources of all servers, to a %s client', (era) => {
  it('that two servers have are those of the first in the configuration', async () => {
    const a = await library('a', 'both://x');
    const b = await library('b', 'both://x');
    const { url } = await openGateway([b.unit('b'), a.unit('a')]);
    const all = await client(url, era);
    expect(await all.readResource('both://x')).toMatchObject({ contents: [{ text: 'both://x of b' }] });
    expect((await all.listResources()).map(({ uri }) => uri)).toEqual(['both://x', 'both://x']);
    expect(await all.readResource('both://x')).toMatchObject({ contents: [{ text: 'both://x of b' }] });
    expect(a.asked).toEqual([]);
  });

  it('are read where a list has shown that they are, and nobody else is asked', async () => {
    const a = await library('a');
    const b = await library('b', 'only://b');
    const { url } = await openGateway([a.unit('a'), b.unit('b')]);
    const all = await client(url, era);
    await all.listResources();
    expect(await all.readResource('only://b')).toMatchObject({ contents: [{ text: 'only://b of b' }] });
    expect([a.asked, b.asked]).toEqual([[], ['only://b']]);
  });

  it('are looked for in order where no list has shown them, and found at once the next time', async () => {
    const a = await library('a');
    const b = await library('b', 'only://b');
    const { url } = await openGateway([a.unit('a'), b.unit('b')]);
    const all = await client(url, era);
    await all.readResource('only://b');
    await all.readResource('only://b');
    expect([a.asked, b.asked]).toEqual([['only://b'], ['only://b', 'only://b']]);
    expect(await all.readResource('b://7')).toMatchObject({ contents: [{ text: '7 of b' }] });
  });

  it('that nobody has are an error that names them', async () => {
    const a = await library('a');
    const b = await library('b');
    const { url } = await openGateway([a.unit('a'), b.unit('b')]);
    const all = await client(url, era);
    const code = era === 'modern' ? -32602 : -32002;
    for (const uri of ['no://where', 'b://missing']) {
      await expect(all.readResource(uri)).rejects.toMatchObject({ code, data: { uri } });
    }
  });

  it('are read where they are, however badly the others do', async () => {
    const dies = commandUnit('dies', ['-e', 'process.exit(1)']);
    const gone = await library('gone', 'only://gone');
    const good = await library('good', 'only://good', 'only://gone');
    const { url, gateway } = await openGateway([dies, gone.unit('gone'), good.unit('good')]);
    await gateway
      .unit('dies')
      .start()
      .catch(() => {});
    const all = await client(url, era);
    await all.listTools();
    await gone.served.close({ graceMs: 0 });
    expect(await all.readResource('only://good')).toMatchObject({
      contents: [{ text: 'only://good of good' }],
    });
    expect(await all.readResource('good://1')).toMatchObject({ contents: [{ text: '1 of good' }] });
  });

  it('of a server that is taken away are looked for among the others', async () => {
    const a = await library('a', 'both://x');
    const b = await library('b', 'both://x');
    const c = await library('c');
    const { url, gateway } = await openGateway([a.unit('a'), b.unit('b'), c.unit('c')]);
    const all = await client(url, era);
    expect(await all.readResource('both://x')).toMatchObject({ contents: [{ text: 'both://x of a' }] });
    gateway.apply([b.unit('b'), c.unit('c')]);
    expect(await all.readResource('both://x')).toMatchObject({ contents: [{ text: 'both://x of b' }] });
  });
});

describe.each(ERAS)('subscriptions of a %s client at the address of all', (era) => {
  it('reach the server that has the resource, and end with the last of them', async () => {
    const a = await library('a', 'only://a');
    const b = await library('b', 'only://b', 'other://b');
    const { url } = await openGateway([a.unit('a'), b.unit('b')]);
    const all = await client(url, era);
    const heard: string[] = [];
    const changes = await all.listen({ uris: ['only://b', 'only://a'] });
    const reading = (async () => {
      for await (const change of changes) if (change.kind === 'resource') heard.push(change.uri);
    })();
    for (const [far, uri] of [
      [b, 'only://b'],
      [a, 'only://a'],
    ] as const) {
      far.server.resourceUpdated('other://b');
      far.server.resourceUpdated(uri);
      await eventually(() => expect(heard).toContain(uri));
    }
    expect(heard).toEqual(['only://b', 'only://a']);
    changes.close();
    await reading;
    const again = await all.listen({ uris: ['other://b'] });
    const next = again[Symbol.asyncIterator]().next();
    b.server.resourceUpdated('only://b');
    b.server.resourceUpdated('other://b');
    expect((await next).value).toEqual({ kind: 'resource', uri: 'other://b' });
  });

  it('of a skill tell of its changes under the address that the client has used', async () => {
    const one = await library('one', 'skill://common', 'skill://own');
    const two = await library('two', 'skill://common');
    const { url } = await openGateway([one.unit('one'), two.unit('two')]);
    const all = await client(url, era);
    const changes = await all.listen({ uris: ['skill://two~/common', 'skill://own'] });
    const heard = changes[Symbol.asyncIterator]();
    one.server.resourceUpdated('skill://common');
    two.server.resourceUpdated('skill://common');
    expect((await heard.next()).value).toEqual({ kind: 'resource', uri: 'skill://two~/common' });
    one.server.resourceUpdated('skill://own');
    expect((await heard.next()).value).toEqual({ kind: 'resource', uri: 'skill://own' });
    changes.close();
  });
});
