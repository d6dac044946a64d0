/** Which era a server speaks is found out, whatever it does when it is asked. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileEraCache } from '@isthmus/sdk/internal/client/negotiation/era-cache.js';
import { expect, it, onTestFinished } from 'vitest';
import { commandUnit, fixtureUnit } from '../../packages/gateway/test/support/server-definitions.js';
import { programmed } from '../../packages/sdk/test/support/host-lifetime.js';
import { modernHttp } from '../bridge-load/near/http.js';
import { startHttpFar } from '../bridge-load/support/far.js';
import { CLIENTS } from '../bridge-matrix/clients/index.js';
import { ISTHMUS } from '../support/child.js';
import { until } from '../support/until.js';
import { bothEras, call, openWatched, programmedUnit, said, unitStatus } from './support/gateway.js';
import { processesWith } from './support/serve-file.js';

it.each([
  ['serve --listen stdio --upstream URL', (url: string) => ['serve', '--listen', 'stdio', '--upstream', url]],
  ['attach --url URL', (url: string) => ['attach', '--grace', '0', '--url', url]],
])(
  'D-13 punkpeye/mcp-remote#356: with isthmus %s a legacy stdio host reaches a server that is modern only',
  async (_words, wordsFor) => {
    const far = await startHttpFar('modern');
    const v1 = CLIENTS.find(({ name }) => name === 'v1')!;
    const folder = freshFolder();
    const env = {
      ISTHMUS_RUNTIME_DIR: join(folder, 'run'),
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_STATE_HOME: join(folder, 'state'),
    };
    const host = await v1.connect({ command: process.execPath, args: [ISTHMUS, ...wordsFor(far.url)] }, env);
    onTestFinished(async () => {
      await host.close();
      const left = () => processesWith(`ISTHMUS_RUNTIME_DIR=${env.ISTHMUS_RUNTIME_DIR}`);
      await until('nobody is left', () => left().length === 0, 8000);
    });
    host.answers = { ...host.answers, elicit: () => ({ action: 'accept', content: { answer: 'Ada' } }) };
    expect([host.era, host.revision]).toEqual(['legacy', '2025-11-25']);
    expect(await host.tools()).toContain('echo');
    expect(await host.call('echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
    expect(await host.call('elicit', { text: 'Who?' })).toMatchObject({ content: [{ text: 'Who?: Ada' }] });
    expect(host.complaints).toEqual([]);
  },
);

it('D-22 modelcontextprotocol/go-sdk#1177, anthropics/claude-ai-mcp#898: a server that exits when it is probed is started once more and is legacy; that is remembered, and never do two of it live', async () => {
  const server = programmed({ eras: 'legacy', dieOn: 'server/discover' });
  const cache = fileEraCache({ folder: freshFolder() });
  const host = { ledger: false, cache } as const;
  const gateway = await openWatched([programmedUnit('far', server)], { host });
  const clients = await bothEras(gateway.url);
  for (const near of clients) expect(said(await call(near, 'echo', { text: near.name }))).toBe(near.name);
  const [probed, second, ...more] = server.starts();
  expect(more).toEqual([]);
  expect(server.got(probed!)).toEqual(['server/discover']);
  expect(server.got(second!)).not.toContain('server/discover');
  expect((await unitStatus(gateway, 'far')).era).toBe('legacy');

  await gateway.gateway.unit('far').restart();
  for (const near of clients) expect(said(await call(near, 'echo', { text: 'again' }))).toBe('again');
  await gateway.gateway.close({ graceMs: 0 });
  const next = await openWatched([programmedUnit('far', server)], { host });
  for (const near of await bothEras(next.url))
    expect(said(await call(near, 'echo', { text: 'b' }))).toBe('b');
  const starts = server.starts();
  expect(starts).toHaveLength(4);
  expect(
    starts
      .slice(1)
      .flatMap((pid) => server.got(pid))
      .filter((method) => method === 'server/discover'),
  ).toEqual([]);
  expect(server.mostAlive()).toBe(1);
});

it('D-23 modelcontextprotocol/rust-sdk#1142: a server that is silent when it is probed is connected to within the time for that', async () => {
  const silent = fixtureUnit('far', 'server-silent-on-discover.mjs', [], {
    silenceMs: 300,
    bootMs: 1000,
    start: 'lazy',
  });
  const gateway = await openWatched([silent]);
  const began = performance.now();
  const clients = await bothEras(gateway.url);
  for (const near of clients) expect(said(await call(near, 'echo', { text: near.name }))).toBe(near.name);
  // It shows no sign of life before it is spoken to as legacy; the rest is the start of a process.
  expect(performance.now() - began).toBeLessThan(1000 + 4000);
  expect(gateway.seen.all('start')).toHaveLength(1);
  expect(await unitStatus(gateway, 'far')).toMatchObject({ state: 'ready', era: 'legacy' });
});

it('D-23 modelcontextprotocol/rust-sdk#1142: one that never answers anything is an error, and does not hang', async () => {
  const deaf = commandUnit('far', ['-e', 'process.stdin.resume()'], {
    silenceMs: 100,
    bootMs: 200,
    connectTimeoutMs: 800,
    start: 'lazy',
  });
  const gateway = await openWatched([deaf]);
  const began = performance.now();
  const { error } = await call(modernHttp(gateway.url, 'near'), 'echo');
  expect(error).toMatchObject({ code: -32603, data: { reason: 'TIMED_OUT', sent: 'no' } });
  expect(performance.now() - began).toBeLessThan(800 + 3000);
});

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-eras-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
