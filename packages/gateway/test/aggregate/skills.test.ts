import { connect, createServer, http, type Server } from '@isthmus/sdk';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Aggregate } from '../../src/aggregate/aggregate.js';
import type { AggregateMember } from '../../src/aggregate/members.js';

const SKILLS = { 'io.modelcontextprotocol/skills': { directoryRead: true } };

/** A server with one skill at the same address as everybody's, and one of its own. */
function withSkills(name: string): Server {
  const server = createServer({ name, version: '1', extensions: SKILLS, announce: ['resources'] });
  const skill = (uri: string) => ({
    uri,
    frontmatter: { name: uri },
    resources: [{ uri: `${uri}/a.txt`, digest: 'sha256:00', size: 1 }],
  });
  const own = `skill://${name}/SKILL.md`;
  server.method('skills/list', ({ cursor }) =>
    cursor === undefined
      ? { skills: [skill('skill://common')], nextCursor: 'more', ttlMs: 0, cacheScope: 'private' }
      : { skills: [skill(own)], ttlMs: 0, cacheScope: 'private' },
  );
  server.method('skills/get', ({ uri }) => ({ skill: { ...skill(String(uri)), by: name } }));
  server.method('resources/directory/read', ({ uri }) => ({
    resources: [
      { uri: `${String(uri)}/a.txt`, name },
      { uri: `${String(uri)}/folder`, name, mimeType: 'inode/directory' },
    ],
  }));
  server.resourceTemplate('skill://{+path}', { name: 'files' }, ({ path }) => `${name}: ${path}`);
  return server;
}

function memberOf(name: string, service = withSkills(name)): AggregateMember {
  return { name, service, absence: () => undefined };
}

async function connected(members: AggregateMember[], mode: 'legacy' | 'modern') {
  const aggregate = new Aggregate({ info: { name: 'all', version: '1' } });
  aggregate.setMembers(members);
  const served = await serve(aggregate, http({ port: 0 }));
  const client = await connect(http(served.addresses[0]!), { mode, cache: false });
  onTestFinished(async () => {
    await client.close();
    await served.close();
  });
  return client;
}

describe.each(['legacy', 'modern'] as const)('skills of several servers, for a %s client', (mode) => {
  it('are one list: a skill is known by its server and its address', async () => {
    const client = await connected([memberOf('one'), memberOf('two')], mode);
    expect(client.server.capabilities.extensions).toEqual(SKILLS);
    const uris: unknown[] = [];
    let cursor: unknown;
    do {
      const page = await client.request('skills/list', cursor === undefined ? {} : { cursor });
      for (const { uri, resources } of page['skills'] as { uri: string; resources: { uri: string }[] }[])
        uris.push([uri, resources[0]?.uri]);
      cursor = page['nextCursor'];
      if (mode === 'modern') expect(page).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    } while (cursor !== undefined);
    expect(uris).toEqual([
      ['skill://one~/common', 'skill://one~/common/a.txt'],
      ['skill://two~/common', 'skill://two~/common/a.txt'],
      ['skill://one~/one/SKILL.md', 'skill://one~/one/SKILL.md/a.txt'],
      ['skill://two~/two/SKILL.md', 'skill://two~/two/SKILL.md/a.txt'],
    ]);
  });

  it('are read where they are: the skill, its files, its folders', async () => {
    const client = await connected([memberOf('one'), memberOf('two')], mode);
    await client.request('skills/list');
    const skill = async (uri: string) => (await client.request('skills/get', { uri }))['skill'];
    // Also by the address at the server: the first that has it answers.
    expect(await skill('skill://common')).toMatchObject({ uri: 'skill://common', by: 'one' });
    expect(await skill('skill://one~/common')).toMatchObject({ uri: 'skill://one~/common', by: 'one' });
    expect(await skill('skill://two~/common')).toMatchObject({
      uri: 'skill://two~/common',
      by: 'two',
      resources: [{ uri: 'skill://two~/common/a.txt' }],
    });
    expect((await client.readResource('skill://two~/common/a.txt')).contents).toMatchObject([
      { uri: 'skill://two~/common/a.txt', text: 'two: common/a.txt' },
    ]);
    expect(await client.request('resources/directory/read', { uri: 'skill://two~/common' })).toMatchObject({
      resources: [
        { uri: 'skill://two~/common/a.txt', name: 'two' },
        { uri: 'skill://two~/common/folder', name: 'two' },
      ],
      ...(mode === 'modern' && { ttlMs: 0, cacheScope: 'private' }),
    });
  });

  it('have their own addresses where there is a single server', async () => {
    const client = await connected([memberOf('one')], mode);
    const { skills } = await client.request('skills/list');
    expect((skills as { uri: string }[]).map(({ uri }) => uri)).toEqual(['skill://common']);
  });
});

describe('methods that only some servers know', () => {
  it('go to the server that announces an extension of that name, else to the first that knows them', async () => {
    const [plain, trees, both] = [
      createServer({ name: 'plain', version: '1' }),
      createServer({ name: 'trees', version: '1', extensions: { 'com.example/trees': {} } }),
      createServer({ name: 'both', version: '1', experimental: { x: {} } }),
    ];
    plain.method('birds/count', () => ({ by: 'plain' }));
    both.method('trees/count', () => ({ by: 'both' }));
    trees.method('trees/count', () => ({ by: 'trees' }));
    const members = Object.entries({ plain, both, trees }).map(([name, server]) => memberOf(name, server));
    const client = await connected(members, 'modern');
    expect(client.server.capabilities).toMatchObject({
      extensions: { 'com.example/trees': {} },
      experimental: { x: {} },
    });
    expect(await client.request('trees/count')).toMatchObject({ by: 'trees' });
    expect(await client.request('birds/count')).toMatchObject({ by: 'plain' });
    await expect(client.request('fish/count')).rejects.toMatchObject({ code: -32601 });
  });

  it('an error of the server that knows the method is the answer', async () => {
    const server = createServer({ name: 'trees', version: '1' });
    server.method('trees/cut', () => {
      throw new Error('no saw');
    });
    const client = await connected([memberOf('trees', server), memberOf('other')], 'modern');
    await expect(client.request('trees/cut')).rejects.toThrow('no saw');
  });
});
