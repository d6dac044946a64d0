import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gate } from '../../../test/support/sessions.js';
import { eventually } from '../../../test/support/until.js';
import { client, ERAS } from './support/clients.js';
import { openGateway } from './support/open-gateway.js';
import { commandUnit, fixtureUnit } from './support/server-definitions.js';
import { openFar, withTools } from './support/upstream.js';

const PID = `
import { existsSync } from 'node:fs';
import { createServer, serve, stdio } from '${new URL('../../sdk/dist/index.js', import.meta.url).pathname}';
const server = createServer({ name: 'pid', version: process.argv[1] ?? '1' });
const input = { type: 'object', properties: { file: { type: 'string' } } };
// With a file it waits until the file is there.
server.tool('pid', { input }, async ({ file }) => {
  while (file && !existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10));
  return process.pid + ' ' + (process.env.WORD ?? '');
});
await serve(server, stdio());
`;
/** A path where there is nothing yet. */
function freePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'go');
}

const pidUnit = (word: string) =>
  commandUnit('pid', ['--input-type=module', '-e', PID], { env: { WORD: word } });

describe.each(ERAS)('a call of a %s client that is running', (era) => {
  it.each([
    ['its own address', '/mcp/a', 'wait'],
    ['that of all', '/mcp', 'a__wait'],
  ])('ends well when its server is taken away, at %s', async (_where, path, tool) => {
    const open = gate();
    let running = 0;
    const far = await openFar((server) => {
      server.tool('wait', {}, async () => {
        running += 1;
        await open.passed;
        return 'waited';
      });
    });
    const other = await openFar(withTools('one'));
    const third = await openFar(withTools('two'));
    const { gateway, at, get } = await openGateway([far.unit('a'), other.unit('b'), third.unit('c')]);
    const caller = await client(at(path), era);
    const call = caller.callTool(tool);
    await eventually(() => expect(running).toBe(1));
    gateway.apply([other.unit('b'), third.unit('c')]);
    expect((await get('/mcp/a')).status).toBe(404);
    const all = await client(at('/mcp'), era);
    await expect(all.callTool('a__wait')).rejects.toMatchObject({ code: -32602 });
    open.open();
    expect(await call).toMatchObject({ content: [{ text: 'waited' }] });
    expect(running).toBe(1);
  });

  it('ends well in the old process when its server is defined otherwise; the next runs in the new one', async () => {
    const other = await openFar(withTools('one'));
    const { gateway, at } = await openGateway([pidUnit('old'), other.unit('b')]);
    const own = await client(at('/mcp/pid'), era);
    const all = await client(at('/mcp'), era);
    const textOf = async (call: ReturnType<typeof own.callTool>) => {
      const [block] = (await call).content;
      return block?.type === 'text' ? block.text : '';
    };
    const first = await textOf(own.callTool('pid'));
    const held = { file: freePath() };
    const running = [textOf(own.callTool('pid', held)), textOf(all.callTool('pid__pid', held))];
    await eventually(async () =>
      expect((await gateway.status()).servers['pid']!.processes!.inFlight).toBe(2),
    );
    expect(gateway.apply([pidUnit('new'), other.unit('b')]).changed).toEqual(['pid']);
    const next = [textOf(own.callTool('pid')), textOf(all.callTool('pid__pid'))];
    writeFileSync(held.file, '');
    expect(await Promise.all(running)).toEqual([first, first]);
    const [after, again] = await Promise.all(next);
    expect([first.split(' ')[1], after!.split(' ')[1]]).toEqual(['old', 'new']);
    expect(again).toBe(after);
    expect((await gateway.status()).servers['pid']!.processes!.processes).toHaveLength(1);
  });
});

it('a server that is taken away is gone when its last call is', async () => {
  const other = await openFar(withTools('one'));
  const { gateway, at } = await openGateway([
    fixtureUnit('slow', 'server-with-slow-tool.mjs'),
    other.unit('b'),
  ]);
  const own = await client(at('/mcp/slow'));
  await own.callTool('quick');
  const [process_] = (await gateway.status()).servers['slow']!.processes!.processes;
  const pid = process_!.pid!;
  const call = own.callTool('slow', { ms: 2000 });
  await eventually(async () => expect((await gateway.status()).servers['slow']!.processes!.inFlight).toBe(1));
  gateway.apply([other.unit('b')]);
  process.kill(pid, 0);
  expect(await call).toMatchObject({ content: [{ text: 'took 2000 ms' }] });
  await eventually(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
});
