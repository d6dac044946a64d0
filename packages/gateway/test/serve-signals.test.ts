import { expect, it } from 'vitest';
import { fixture } from '../../../test/support/child.js';
import { eventually } from '../../../test/support/until.js';
import { ask, modern, modernCall, open } from '../../sdk/test/support/http-server.js';
import { echoEntry, serveFile } from './support/serve-file.js';

const slow = { command: process.execPath, args: [fixture('server-with-slow-tool.mjs')] };

it('SIGTERM finishes what runs, closes subscriptions in order, ends the servers, and exits with 0', async () => {
  const served = await serveFile({ mcpServers: { slow, echo: echoEntry() } });
  await eventually(async () => expect(await served.get('/readyz')).toBe(200));
  const { servers } = await served.status();
  const pids = Object.values(servers).map(({ processes }) => processes!.processes[0]!.pid!);
  const wanted = { notifications: { toolsListChanged: true } };
  const listening = await open(`${served.origin}/mcp`, modern(9, 'subscriptions/listen', wanted));
  await listening.next();
  const call = ask(`${served.origin}/mcp`, modernCall(1, 'slow__slow', { ms: 500 }));
  await eventually(async () => expect((await served.status()).servers['slow']!.processes!.inFlight).toBe(1));
  served.child.kill('SIGTERM');
  expect((await call).json.result.content).toEqual([{ type: 'text', text: 'took 500 ms' }]);
  await listening.end();
  expect([listening.messages.at(-1)!.id, listening.complete]).toEqual([9, true]);
  expect(await served.child.exit()).toEqual({ code: 0, signal: null });
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

it('a second SIGTERM does not wait, and no server is left', async () => {
  const served = await serveFile({ mcpServers: { slow, echo: echoEntry() } }, '--grace', '60000');
  await eventually(async () => expect(await served.get('/readyz')).toBe(200));
  const { servers } = await served.status();
  const pids = Object.values(servers).map(({ processes }) => processes!.processes[0]!.pid!);
  const call = ask(`${served.origin}/mcp/slow`, modernCall(1, 'slow', { ms: 60_000 })).catch(() => 'cut');
  await eventually(async () => expect((await served.status()).servers['slow']!.processes!.inFlight).toBe(1));
  served.child.kill('SIGTERM');
  await eventually(async () => expect(await served.get('/healthz').catch(() => 0)).toBe(0));
  served.child.kill('SIGTERM');
  expect(await served.child.exit(8000)).toEqual({ code: 143, signal: null });
  await call;
  await eventually(() => {
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

it('SIGHUP reads the file again, where it is not watched', async () => {
  const served = await serveFile({ mcpServers: { a: echoEntry() } }, '--no-watch');
  await eventually(async () => expect(await served.tools('/mcp')).toEqual(['echo']));
  served.write({ mcpServers: { a: echoEntry(), b: echoEntry() } });
  served.child.kill('SIGHUP');
  await eventually(async () => expect(await served.tools('/mcp')).toEqual(['a__echo', 'b__echo']));
  served.write('{');
  served.child.kill('SIGHUP');
  await eventually(async () => expect((await served.status()).configProblem).toBeDefined());
  expect(await served.tools('/mcp')).toEqual(['a__echo', 'b__echo']);
});
