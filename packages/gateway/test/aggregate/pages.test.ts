import type { Client } from '@isthmus/sdk/client';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { describe, expect, it } from 'vitest';
import { client, ERAS } from '../support/clients.js';
import { openGateway } from '../support/open-gateway.js';
import { fixtureUnit } from '../support/server-definitions.js';
import { openFar, withTools } from '../support/upstream.js';

const numbered = (word: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${word}${at + 1}`);

/** Five tools in pages of two, one tool, and three tools in pages of two. */
async function paged() {
  const a = await openFar(withTools(...numbered('a', 5)), { pageSize: 2 });
  const b = await openFar(withTools('b1'));
  const c = await openFar(withTools(...numbered('c', 3)), { pageSize: 2 });
  const fars = { a, b, c };
  return { fars, ...(await openGateway([a.unit('a'), b.unit('b'), c.unit('c')])) };
}

interface Page {
  readonly names: readonly string[];
  readonly next: string | undefined;
  readonly meta: JsonObject | undefined;
}

async function page(all: Client, cursor?: unknown): Promise<Page> {
  const result = await all.request('tools/list', cursor === undefined ? {} : { cursor });
  const tools = result['tools'] as { name: string }[];
  return {
    names: tools.map(({ name }) => name),
    next: result['nextCursor'] as string | undefined,
    meta: result['_meta'] as JsonObject | undefined,
  };
}

describe.each(ERAS)('pages of several servers, to a %s client', (era) => {
  it('hold the next page of each that has one, and every tool comes once', async () => {
    const { url } = await paged();
    const all = await client(url, era);
    const first = await page(all);
    expect(first.names).toEqual(['a__a1', 'a__a2', 'b__b1', 'c__c1', 'c__c2']);
    const second = await page(all, first.next);
    expect(second.names).toEqual(['a__a3', 'a__a4', 'c__c3']);
    const third = await page(all, second.next);
    expect([third.names, third.next]).toEqual([['a__a5'], undefined]);
    expect((await all.listTools()).map(({ name }) => name).sort()).toEqual(
      [...numbered('a__a', 5), 'b__b1', ...numbered('c__c', 3)].sort(),
    );
  });

  it('that a server names with an empty cursor are followed as well', async () => {
    const b = await openFar(withTools('b1'));
    const { url } = await openGateway([
      fixtureUnit('paged', 'server-with-pages.mjs', ['modern']),
      b.unit('b'),
    ]);
    const all = await client(url, era);
    const tools = await all.listTools();
    expect(tools).toHaveLength(26);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(26);
  });

  it('are refused with -32602 for an unknown cursor', async () => {
    const { url } = await paged();
    const all = await client(url, era);
    const forged = (text: string) => Buffer.from(text).toString('base64url');
    for (const cursor of [
      ...['nonsense', '', '2', 7, null],
      ...[forged('{"a":"2"}'), forged('[]'), forged('[["a",2]]'), forged('[["a","forged"]]')],
    ]) {
      await expect(page(all, cursor), String(cursor)).rejects.toMatchObject({ code: -32602 });
    }
  });
});

describe('between two pages', () => {
  it('a server may be taken away, and the rest of the list is still good', async () => {
    const { url, gateway } = await paged();
    const all = await client(url);
    const first = await page(all);
    gateway.apply(gateway.definitions.filter(({ name }) => name !== 'a'));
    const second = await page(all, first.next);
    expect([second.names, second.next, second.meta?.['isthmus/absent']]).toEqual([
      ['c__c3'],
      undefined,
      undefined,
    ]);
  });

  it('a server may be added; it is in the list from its beginning on', async () => {
    const { url, gateway, fars } = await paged();
    const d = await openFar(withTools('d1'));
    const all = await client(url);
    const first = await page(all);
    gateway.apply([...gateway.definitions, d.unit('d')]);
    const rest = await page(all, first.next);
    expect(rest.names).toEqual(['a__a3', 'a__a4', 'c__c3']);
    expect((await page(all)).names).toContain('d__d1');
    expect(fars.a.served.connections).toBeGreaterThan(0);
  });

  it('a server may be gone; the others go on, and it is named', async () => {
    const { url, fars } = await paged();
    const all = await client(url);
    const first = await page(all);
    await fars.a.served.close({ graceMs: 0 });
    const second = await page(all, first.next);
    expect(second.names).toEqual(['c__c3']);
    expect(second.meta?.['isthmus/absent']).toEqual([{ server: 'a', reason: expect.any(String) }]);
  });

  it('tools may change; a cursor stays good', async () => {
    const { url, fars } = await paged();
    const all = await client(url);
    const first = await page(all);
    fars.a.server.tool('a0', {}, () => 'new');
    expect((await page(all, first.next)).names).toEqual(['a__a3', 'a__a4', 'c__c3']);
  });
});
