import type { ToolLists } from '@isthmus/sdk/internal/config/server-spec.js';
import { describe, expect, it } from 'vitest';
import { client, ERAS } from '../support/clients.js';
import { openGateway } from '../support/open-gateway.js';
import { openFar, withTools } from '../support/upstream.js';

const TOOLS = ['read_file', 'write_file', 'delete_file', 'search'];

async function selected(tools: ToolLists) {
  const ran: string[] = [];
  const far = await openFar(
    (server) => {
      withTools(...TOOLS)(server);
      server.use((call, next) => {
        if (call.method === 'tools/call') ran.push(String(call.params['name']));
        return next();
      });
      server.prompt('write_file', {}, () => 'a prompt');
    },
    { pageSize: 2 },
  );
  const other = await openFar(withTools('write_file'), { name: 'other' });
  const opened = await openGateway([far.unit('files', { tools }), other.unit('other')]);
  return { ran, ...opened };
}

describe.each(ERAS)('the lists of allowed and denied tools, to a %s client', (era) => {
  it.each([
    [{ allow: ['read_file', 'search'] }, ['read_file', 'search']],
    [{ allow: ['*_file'] }, ['read_file', 'write_file', 'delete_file']],
    [{ deny: ['delete_*'] }, ['read_file', 'write_file', 'search']],
    [{ allow: ['*_file'], deny: ['write_file', 'delete_file'] }, ['read_file']],
    [{ allow: [] }, []],
    [{ deny: ['*'] }, []],
    [{ deny: [] }, TOOLS],
    [{ allow: ['files__read_file'] }, []],
  ] as [ToolLists, string[]][])('%j leave %j, at its own address and at that of all', async (tools, left) => {
    const { at } = await selected(tools);
    const own = await client(at('/mcp/files'), era);
    expect((await own.listTools()).map(({ name }) => name)).toEqual(left);
    const all = await client(at('/mcp'), era);
    expect(new Set((await all.listTools()).map(({ name }) => name))).toEqual(
      new Set([...left.map((name) => `files__${name}`), 'other__write_file']),
    );
  });

  it('hold for calls, too: what is not shown cannot be called, and never reaches the server', async () => {
    const { at, ran } = await selected({ allow: ['*_file'], deny: ['delete_file'] });
    const own = await client(at('/mcp/files'), era);
    const all = await client(at('/mcp'), era);
    for (const [who, prefix] of [
      [own, ''],
      [all, 'files__'],
    ] as const) {
      for (const name of ['delete_file', 'search', 'nowhere']) {
        await expect(who.callTool(prefix + name)).rejects.toMatchObject({
          code: -32602,
          message: expect.stringContaining(`Unknown tool: ${name}`),
        });
      }
      expect(await who.callTool(`${prefix}read_file`)).toMatchObject({
        content: [{ text: 'read_file of far' }],
      });
    }
    expect(await all.callTool('other__write_file')).toMatchObject({
      content: [{ text: 'write_file of other' }],
    });
    expect(ran).toEqual(['read_file', 'read_file']);
  });

  it('are about tools, and about nothing else', async () => {
    const { at } = await selected({ deny: ['*'] });
    const all = await client(at('/mcp'), era);
    expect(await all.getPrompt('files__write_file')).toMatchObject({
      messages: [{ content: { text: 'a prompt' } }],
    });
  });
});

it('new lists are taken over without a new process, and clients are told', async () => {
  const { gateway, at } = await selected({ deny: ['delete_file'] });
  const all = await client(at('/mcp'));
  const changes = await all.listen({ tools: true });
  expect(await all.listTools()).toHaveLength(4);
  const [files, other] = gateway.definitions;
  gateway.apply([{ ...files!, tools: { allow: ['search'] } }, other!]);
  expect((await changes[Symbol.asyncIterator]().next()).value).toEqual({ kind: 'tools' });
  const names = (await all.listTools()).map(({ name }) => name);
  expect(names.sort()).toEqual(['files__search', 'other__write_file']);
});
