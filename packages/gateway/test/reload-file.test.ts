import { describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/until.js';
import { legacyCall, openSession } from '../../sdk/test/support/http-server.js';
import { client } from './support/clients.js';
import { openGateway } from './support/open-gateway.js';
import { echoEntry, type ServedFile, serveFile } from './support/serve-file.js';
import { openFar, withTools } from './support/upstream.js';

const pidOf = async ({ status }: ServedFile, name: string) =>
  (await status()).servers[name]?.processes?.processes[0]?.pid;
const ready = (served: ServedFile) => eventually(async () => expect(await served.get('/readyz')).toBe(200));

describe('a file that is served and edited', () => {
  it('is followed: what is new comes, what is gone goes, what is the same is not touched', async () => {
    const served = await serveFile({ mcpServers: { a: echoEntry(), b: echoEntry() } });
    await ready(served);
    const [a, b] = [await pidOf(served, 'a'), await pidOf(served, 'b')];
    const session = await openSession(`${served.origin}/mcp/a`);
    const all = await client(`${served.origin}/mcp`);
    const changes = (await all.listen({ tools: true }))[Symbol.asyncIterator]();
    expect(await served.tools('/mcp')).toEqual(['a__echo', 'b__echo']);

    served.write({ mcpServers: { c: echoEntry(), a: echoEntry(), b: echoEntry({ A: '1' }) } });
    expect((await changes.next()).value).toEqual({ kind: 'tools' });
    await eventually(async () =>
      expect(await served.tools('/mcp')).toEqual(['c__echo', 'a__echo', 'b__echo']),
    );
    await eventually(async () => expect(await pidOf(served, 'b')).not.toBe(b));
    expect(await pidOf(served, 'a')).toBe(a);
    const said = await session.post(legacyCall(1, 'echo', { text: 'still here' }));
    expect(said.json.result.content[0].text).toBe('still here');

    served.write({ mcpServers: { a: echoEntry(), b: { ...echoEntry({ A: '1' }), disabled: true } } });
    await eventually(async () => expect(await served.tools('/mcp')).toEqual(['a__echo']));
    const { servers } = await served.status();
    expect(Object.entries(servers).map(([name, { state }]) => [name, state])).toEqual([
      ['a', 'ready'],
      ['b', 'off'],
    ]);
    expect(await served.get('/mcp/c')).toBe(404);
    expect(await pidOf(served, 'a')).toBe(a);

    served.write({ mcpServers: { a: echoEntry() } });
    await eventually(async () => expect(await served.tools('/mcp')).toEqual(['echo']));
    expect(await pidOf(served, 'a')).toBe(a);
  });

  it('keeps everything while it is broken; the status says why, until it is fixed', async () => {
    const config = { mcpServers: { a: echoEntry(), b: echoEntry() } };
    const served = await serveFile(config);
    await ready(served);
    const before = [await pidOf(served, 'a'), await pidOf(served, 'b')];
    expect((await served.status()).configProblem).toBeUndefined();
    served.write(JSON.stringify(config).slice(0, -10));
    const problem = await eventually(async () => {
      const { configProblem } = await served.status();
      expect(configProblem).toBeDefined();
      return configProblem;
    });
    expect(problem).toMatch(/servers\.json:\d+:\d+/);
    expect(await served.tools('/mcp')).toEqual(['a__echo', 'b__echo']);
    expect([await pidOf(served, 'a'), await pidOf(served, 'b')]).toEqual(before);
    expect(await served.get('/readyz')).toBe(200);
    served.write('');
    await eventually(async () => expect((await served.status()).configProblem).not.toBe(problem));
    expect((await served.status()).configProblem).toBeDefined();
    served.write(config);
    await eventually(async () => expect((await served.status()).configProblem).toBeUndefined());
    expect([await pidOf(served, 'a'), await pidOf(served, 'b')]).toEqual(before);
  });

  it('keeps the earlier definition, and the place, of a server that has an error now', async () => {
    const served = await serveFile({ mcpServers: { a: echoEntry(), b: echoEntry() } });
    await ready(served);
    const a = await pidOf(served, 'a');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the file
    const broken = echoEntry({ KEY: '${NO_SUCH_VARIABLE_HERE}' });
    served.write({ mcpServers: { a: broken, b: echoEntry(), c: echoEntry() } });
    await eventually(async () => expect(await served.tools('/mcp')).toContain('c__echo'));
    expect(await served.tools('/mcp')).toEqual(['a__echo', 'b__echo', 'c__echo']);
    expect(await pidOf(served, 'a')).toBe(a);
    expect(served.child.stderr).toContain('NO_SUCH_VARIABLE_HERE');
    served.write({ mcpServers: { a: echoEntry({ KEY: 'x' }), b: echoEntry(), c: echoEntry() } });
    await eventually(async () => expect(await pidOf(served, 'a')).not.toBe(a));
  });

  it('shows a server that has an error from the beginning as one that is missing, and serves the others', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the file
    const broken = echoEntry({ KEY: '${NO_SUCH_VARIABLE_HERE}' });
    const served = await serveFile({ mcpServers: { bad: broken, good: echoEntry() } });
    await eventually(async () => expect(await served.tools('/mcp')).toContain('good__echo'));
    const { servers } = await served.status();
    expect(servers['bad']).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('NO_SUCH_VARIABLE_HERE'),
    });
    expect(await served.get('/readyz')).toBe(503);
  });

  it('may put an address where a command was, and the other way round', async () => {
    const far = await openFar(withTools('far'));
    const there = await openGateway([far.unit('x')]);
    const served = await serveFile({ mcpServers: { a: echoEntry(), b: echoEntry() } });
    await ready(served);
    served.write({ mcpServers: { a: { url: there.url }, b: echoEntry() } });
    await eventually(async () => expect(await served.tools('/mcp')).toEqual(['a__far', 'b__echo']));
    expect((await served.status()).servers['a']).toMatchObject({ kind: 'url', state: 'ready' });
    served.write({ mcpServers: { a: echoEntry(), b: echoEntry() } });
    await eventually(async () => expect(await served.tools('/mcp')).toEqual(['a__echo', 'b__echo']));
    expect((await served.status()).servers['a']).toMatchObject({ kind: 'command' });
  });
});
