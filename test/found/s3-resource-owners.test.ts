import { ResourceOwners } from '@isthmus/gateway/internal/aggregate/resource-owners.js';
import { deriveService } from '@isthmus/gateway/internal/pipeline/derive-service.js';
import { jsonSchema, resourceNotFound, type Server } from '@isthmus/sdk';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import { describe, expect, it } from 'vitest';
import { type OpenOptions, openGateway } from '../../packages/gateway/test/support/open-gateway.js';
import { openFar } from '../../packages/gateway/test/support/upstream.js';
import { ask, modern, modernCall } from '../../packages/sdk/test/support/http-server.js';

const endpoint = {
  authenticate: async (request: { header(name: string): string | undefined }) => request.header('x-user'),
};
const as = (user: string) => ({ headers: { 'x-user': user } });
const STATELESS = { stateless: true };

/** Whether a server shows `res://x` to a principal. */
type Shows = (server: string, principal: string | undefined) => boolean;

function shown(inner: Service, server: string, shows: Shows): Service {
  return deriveService(inner, {
    async handle(call) {
      if (shows(server, call.peer.principal)) return inner.handle(call);
      if (call.method === 'resources/list') return { resources: [] };
      if (call.method === 'resources/read') throw resourceNotFound('res://x');
      return inner.handle(call);
    },
  });
}

/** Two servers, `a` before `b`, that both have `res://x`. */
async function twoServers(shows: Shows, options: OpenOptions = {}) {
  const build = (word: string) => (server: Server) =>
    server.resource('res://x', { name: 'x' }, () => `x of ${word}`);
  const [a, b] = [await openFar(build('a')), await openFar(build('b'))];
  const { url } = await openGateway([a.unit('a', STATELESS), b.unit('b', STATELESS)], {
    endpoint,
    around: (service, unit) => shown(service, unit.name, shows),
    ...options,
  });
  const read = async (user: string) => {
    const { json } = await ask(url, modern(1, 'resources/read', { uri: 'res://x' }, as(user)));
    return json.result?.contents[0].text ?? json.error?.message;
  };
  const list = async (user: string) => {
    const { json } = await ask(url, modern(1, 'resources/list', {}, as(user)));
    return json.result.resources.map(({ uri }: { uri: string }) => uri);
  };
  return { read, list, url };
}

describe('S3: the owner of a resource in the aggregate', () => {
  it('S3: is not changed for Alice by what Bob reads', async () => {
    const { read } = await twoServers((server, principal) => server === 'b' || principal !== 'bob');
    expect(await read('bob')).toBe('x of b');
    expect(await read('alice')).toBe('x of a');
    expect(await read('bob')).toBe('x of b');
  });

  it('S3: is not changed for Alice by what Bob lists', async () => {
    const { read, list } = await twoServers((server, principal) => server === 'b' || principal !== 'bob');
    expect(await list('bob')).toEqual(['res://x']);
    expect(await read('alice')).toBe('x of a');
  });

  it('S3: is the first server of the configuration that lists it, whichever was read before', async () => {
    let isHidden = true;
    const { read, list } = await twoServers((server) => server === 'b' || !isHidden);
    expect(await read('alice')).toBe('x of b');
    isHidden = false;
    expect(await read('alice')).toBe('x of b');
    expect(await list('alice')).toEqual(['res://x', 'res://x']);
    expect(await read('alice')).toBe('x of a');
  });

  it('S3: is corrected by a later list of the same principal', async () => {
    let isHidden = false;
    const { read, list } = await twoServers((server) => server === 'b' || !isHidden);
    await list('alice');
    expect(await read('alice')).toBe('x of a');
    isHidden = true;
    await list('alice');
    expect(await read('alice')).toBe('x of b');
  });

  it('S3: is looked for again where a server that was read has it no longer', async () => {
    let place = 'b';
    const { read } = await twoServers((server) => server === place);
    expect(await read('alice')).toBe('x of b');
    place = 'a';
    expect(await read('alice')).toBe('x of a');
  });
});

describe('S3: what is remembered of resources', () => {
  const part = (name: string) => ({ name, service: undefined as never, absence: () => undefined });
  const [a, b] = [part('a'), part('b')];
  const all = { isFirst: true, isLast: true };

  it('S3: keeps the pages of a list together, and drops what a new list does not show', () => {
    const owners = new ResourceOwners();
    const has = (uri: string) => owners.among('alice', uri, [a, b]).length === 1;
    owners.learn('alice', b, 'resources', ['u:1', 'u:2'], { isFirst: true, isLast: false });
    owners.learn('alice', b, 'resources', ['u:3'], { isFirst: false, isLast: true });
    owners.learn('alice', b, 'templates', ['u:{id}'], all);
    expect(['u:1', 'u:2', 'u:3', 'u:{id}'].map(has)).toEqual([true, true, true, true]);
    owners.learn('alice', b, 'resources', ['u:3'], { isFirst: true, isLast: false });
    expect(has('u:1')).toBe(true);
    owners.learn('alice', b, 'resources', ['u:1'], { isFirst: false, isLast: true });
    expect(['u:1', 'u:2', 'u:3', 'u:{id}'].map(has)).toEqual([true, false, true, true]);
  });

  it('S3: has a bound in bytes, and whoever takes most loses it first', () => {
    const owners = new ResourceOwners(1_000_000);
    owners.learn('alice', b, 'resources', ['u:alice'], all);
    for (let round = 0; round < 20; round += 1) {
      const uris = Array.from({ length: 1000 }, (_, at) => `u:${round}:${at}:${'x'.repeat(100)}`);
      owners.learn('bob', b, 'resources', uris, { isFirst: false, isLast: false });
    }
    expect(owners.among('alice', 'u:alice', [a, b])).toEqual([b]);
    expect(owners.among('bob', `u:0:0:${'x'.repeat(100)}`, [a, b])).toEqual([a, b]);
  });
});

describe('S3: what one principal is shown of tools', () => {
  it('S3: does not decide which headers the calls of another need', async () => {
    const input = jsonSchema<{ region: string }>({
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    });
    const far = await openFar((server) => server.tool('where', { input }, () => 'here'));
    const { url } = await openGateway([far.unit('far', STATELESS)], { endpoint });
    const call = async (user: string) =>
      (await ask(url, modernCall(1, 'where', { region: 'eu' }, as(user)))).status;
    await ask(url, modern(1, 'tools/list', {}, as('bob')));
    expect(await call('bob')).toBe(400);
    expect(await call('alice')).toBe(200);
  });
});
