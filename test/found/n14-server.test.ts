import { connect, createServer, http, jsonSchema, memory, type Server, serve } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

const newServer = () => createServer({ name: 'n14', version: '1', pageSize: 2 });

async function clientOf(server: Server, mode = 'auto') {
  const link = memory();
  const served = await serve(server, link);
  const client = await connect(link, { mode });
  onTestFinished(async () => {
    await client.close();
    await served.close({ graceMs: 0 });
  });
  return client;
}

describe('N14: the list of a resource template', () => {
  it('N14: follows the registered resources, page by page', async () => {
    const server = newServer();
    server.resource('x:a', { name: 'a' }, () => 'a');
    server.resourceTemplate(
      'notes://{id}',
      {
        name: 'note',
        mimeType: 'text/plain',
        list: (_ctx, cursor) =>
          cursor === undefined
            ? { resources: [{ uri: 'notes://1' }, { uri: 'notes://2', name: 'second' }], nextCursor: 'more' }
            : [{ uri: `notes://${cursor}` }],
      },
      ({ id }) => `note ${id}`,
    );
    server.resourceTemplate(
      'logs://{day}',
      { name: 'log', list: () => [{ uri: 'logs://today' }] },
      () => 'x',
    );
    server.resourceTemplate('hidden://{id}', { name: 'hidden' }, () => 'x');
    const client = await clientOf(server);
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listResourcesPage(cursor);
      pages.push(page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(pages).toEqual([
      ['x:a', 'notes://1', 'notes://2'],
      ['notes://more', 'logs://today'],
    ]);
    const [, first, second] = await client.listResources();
    expect([first, second]).toEqual([
      { uri: 'notes://1', name: 'note', mimeType: 'text/plain' },
      { uri: 'notes://2', name: 'second', mimeType: 'text/plain' },
    ]);
  });

  it('N14: a cursor of a template that is gone is refused (PAGE-006)', async () => {
    const server = newServer();
    const template = server.resourceTemplate(
      'notes://{id}',
      { name: 'note', list: () => ({ resources: [{ uri: 'notes://1' }], nextCursor: 'more' }) },
      () => 'x',
    );
    const client = await clientOf(server);
    const { nextCursor } = await client.listResourcesPage();
    template.remove();
    await expect(client.listResourcesPage(nextCursor)).rejects.toMatchObject({ code: -32602 });
  });
});

describe('N14: update() of a registration', () => {
  it.each(['legacy', 'modern'])('N14: changes a tool, and tells clients, %s', async (mode) => {
    const server = newServer();
    const tool = server.tool('add', { title: 'Add', input: z.object({ a: z.number() }) }, ({ a }) => ({
      sum: a + 1,
    }));
    const client = await clientOf(server, mode);
    const changes = await client.listen({ tools: true });
    tool.update({ description: 'Adds two' }, ({ a }) => ({ sum: a + 2 }));
    const next = await changes[Symbol.asyncIterator]().next();
    expect(next.value).toEqual({ kind: 'tools' });
    const [listed] = await client.listTools({ fresh: true });
    expect([listed?.title, listed?.description]).toEqual(['Add', 'Adds two']);
    expect((await client.callTool('add', { a: 1 })).structuredContent).toEqual({ sum: 3 });
    expect((await client.callTool('add', { a: 'x' })).isError).toBe(true);
    await changes.close();
  });

  it('N14: a new schema takes effect; an invalid one changes nothing', async () => {
    const server = newServer();
    const tool = server.tool('t', { input: z.object({ a: z.string() }) }, () => 'old');
    const client = await clientOf(server);
    expect(() => tool.update({ input: { type: 'string' } })).toThrow('must have type "object"');
    expect(() => tool.update({ descripton: 'x' } as never)).toThrow('did you mean "description"?');
    expect(await client.callTool('t', { a: 'x' })).toMatchObject({ content: [{ text: 'old' }] });
    tool.update({ input: z.object({ b: z.string() }) }, ({ b }) => b);
    expect(await client.callTool('t', { b: 'new' })).toMatchObject({ content: [{ text: 'new' }] });
    tool.remove();
    expect(() => tool.update({ title: 'x' })).toThrow('The tool "t" was removed; register it again');
  });

  it('N14: changes a resource, a template and a prompt', async () => {
    const server = newServer();
    const resource = server.resource('x:a', { name: 'a' }, () => 'a');
    const template = server.resourceTemplate('x:b/{id}', { name: 'b' }, () => 'b');
    const prompt = server.prompt('p', { arguments: { who: { required: true } } }, () => 'p');
    const client = await clientOf(server);
    resource.update({ title: 'A' }, () => 'a2');
    template.update({ list: () => [{ uri: 'x:b/1' }] }, ({ id }) => `b ${id}`);
    prompt.update({ arguments: {} }, () => 'p2');
    expect(await client.listResources()).toEqual([
      { uri: 'x:a', name: 'a', title: 'A' },
      { uri: 'x:b/1', name: 'b' },
    ]);
    expect(await client.readResource('x:a')).toMatchObject({ contents: [{ text: 'a2' }] });
    expect(await client.readResource('x:b/1')).toMatchObject({ contents: [{ text: 'b 1' }] });
    expect(await client.getPrompt('p')).toMatchObject({ messages: [{ content: { text: 'p2' } }] });
  });
});

describe('N14: arguments of a prompt from a schema', () => {
  const schema = z.object({
    branch: z.string().describe('Which branch'),
    depth: z.coerce.number().optional(),
    style: z.enum(['short', 'long', 'strict']).default('short'),
  });

  it('N14: are listed, checked, converted and completed', async () => {
    const server = newServer();
    server.prompt(
      'review',
      { arguments: schema, complete: { branch: (typed) => [`${typed}ain`] } },
      ({ branch, depth, style }) => `${branch} ${typeof depth} ${style}`,
    );
    const client = await clientOf(server);
    expect((await client.listPrompts())[0]?.arguments).toEqual([
      { name: 'branch', description: 'Which branch', required: true },
      { name: 'depth', required: false },
      { name: 'style', required: false },
    ]);
    expect(await client.getPrompt('review', { branch: 'main', depth: '3' })).toMatchObject({
      messages: [{ content: { text: 'main number short' } }],
    });
    await expect(client.getPrompt('review', { branch: 'main', style: 'loud' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Invalid arguments for prompt review: style'),
    });
    await expect(client.getPrompt('review')).rejects.toThrow('Prompt review needs branch');
    const ref = { type: 'ref/prompt', name: 'review' } as const;
    const complete = (name: string, value: string) => client.complete({ ref, argument: { name, value } });
    expect((await complete('branch', 'm')).values).toEqual(['main']);
    expect((await complete('style', 's')).values).toEqual(['short', 'strict']);
  });

  it('N14: JSON Schema works as well; an argument that is not a string is refused', async () => {
    const server = newServer();
    const json = jsonSchema<{ who: string }>({
      type: 'object',
      properties: { who: { type: 'string', title: 'Who' } },
      required: ['who'],
    });
    server.prompt('greet', { arguments: json }, ({ who }) => `Hello ${who}`);
    const client = await clientOf(server);
    expect((await client.listPrompts())[0]?.arguments).toEqual([
      { name: 'who', title: 'Who', required: true },
    ]);
    const number = { type: 'object', properties: { n: { type: 'number' } } } as const;
    expect(() => server.prompt('n', { arguments: number }, () => 'x')).toThrow(
      'the argument n does not accept strings, and arguments of prompts are strings',
    );
  });

  it('N14: a prompt may still have an argument named type', async () => {
    const server = newServer();
    server.prompt('p', { arguments: { type: { required: true } } }, ({ type }) => type);
    const client = await clientOf(server);
    expect(await client.getPrompt('p', { type: 'x' })).toMatchObject({
      messages: [{ content: { text: 'x' } }],
    });
  });
});

describe('N14: the context of a handler', () => {
  function contextServer(): Server {
    const server = newServer();
    server.tool('who', {}, (_args, { scopes, claims, headers, sessionId, peer }) => ({
      scopes,
      claims,
      tenant: headers?.['x-tenant'],
      hasSession: typeof sessionId === 'string',
      principal: peer.principal,
    }));
    return server;
  }

  it.each(['legacy', 'modern'])(
    'N14: has scopes, claims, headers and the session over HTTP, %s',
    async (mode) => {
      const endpoint = http({
        port: 0,
        authenticate: (request) => ({
          principal: 'ada',
          scopes: ['read'],
          claims: { sub: 'ada', token: request.header('authorization') ?? '' },
        }),
      });
      await using served = await serve(contextServer(), endpoint);
      const headers = { authorization: 'Bearer t', 'X-Tenant': 'acme' };
      await using client = await connect(http(served.addresses[0]!, { headers }), { mode });
      expect((await client.callTool('who')).structuredContent).toEqual({
        scopes: ['read'],
        claims: { sub: 'ada', token: 'Bearer t' },
        tenant: 'acme',
        hasSession: mode === 'legacy',
        principal: 'ada',
      });
    },
  );

  it('N14: has none of them on other transports', async () => {
    const client = await clientOf(contextServer());
    expect((await client.callTool('who')).structuredContent).toEqual({ hasSession: false });
  });
});
