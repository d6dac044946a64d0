import { describe, expect, it, onTestFinished } from 'vitest';
import { connect, createServer, memory, ProtocolError, type Server, serve } from '../../src/index.js';

const UI = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

async function connected(server: Server, mode: 'legacy' | 'modern') {
  const link = memory();
  const served = await serve(server, link);
  const client = await connect(link, { mode, extensions: UI });
  onTestFinished(async () => {
    await client.close();
    await served.close();
  });
  return client;
}

describe.each(['legacy', 'modern'] as const)('extensions with a %s client', (mode) => {
  it('of the server are announced; those of the client are declared', async () => {
    const server = createServer({
      name: 'a',
      version: '1',
      extensions: { 'io.modelcontextprotocol/ui': {} },
      experimental: { trees: { tall: true } },
    });
    server.tool('declared', {}, (_args, ctx) => JSON.stringify(ctx.peer.capabilities.extensions));
    const client = await connected(server, mode);
    expect(client.server.capabilities).toMatchObject({
      extensions: { 'io.modelcontextprotocol/ui': {} },
      experimental: { trees: { tall: true } },
    });
    const { content } = await client.callTool('declared');
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(UI) }]);
  });

  it('have methods of their own, with a context', async () => {
    const server = createServer({ name: 'a', version: '1' });
    server.method('com.example/trees/count', ({ kind }, ctx) => ({ kind, era: ctx.era }));
    const client = await connected(server, mode);
    expect(await client.request('com.example/trees/count', { kind: 'oak' })).toMatchObject({
      kind: 'oak',
      era: mode,
    });
    await expect(client.request('com.example/trees/cut')).rejects.toMatchObject({ code: -32601 });
  });

  it('whose method throws: the client gets the error; one that returns no object is an error of the server', async () => {
    const server = createServer({ name: 'a', version: '1' });
    server.method('x/refuse', () => {
      throw new ProtocolError(-32602, 'no such tree', { tree: 7 });
    });
    server.method('x/nothing', () => undefined as never);
    const client = await connected(server, mode);
    await expect(client.request('x/refuse')).rejects.toMatchObject({ code: -32602, data: { tree: 7 } });
    await expect(client.request('x/nothing')).rejects.toMatchObject({ code: -32603 });
  });
});

describe('wrong announcements', () => {
  const made = (more: object) => () => createServer({ name: 'a', version: '1', ...more });

  it.each([
    ['an id without a prefix', { extensions: { ui: {} } }, /has a prefix, such as "com.example\/ui"/],
    ['an entry that is no object', { extensions: { 'a/b': true } }, /extensions\["a\/b"\] must be an object/],
    ['a list', { experimental: [] }, /"experimental" must be an object/],
    [
      'the tasks, which follow from tools',
      { extensions: { 'io.modelcontextprotocol/tasks': {} } },
      /follows from tools that have "task"/,
    ],
  ])('%s: the author gets the error', (_what, more, message) => {
    expect(made(more)).toThrow(message);
  });

  it('methods of the protocol cannot be registered', () => {
    const server = createServer({ name: 'a', version: '1' });
    for (const method of ['tools/call', 'initialize', 'server/discover', 'tasks/get', 'notifications/x'])
      expect(() => server.method(method, () => ({}))).toThrow('belongs to the protocol itself');
    expect(() => server.method('x' as never, {} as never)).toThrow('server.method takes (name, handler)');
  });
});
