import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { programmed } from '../../../sdk/test/support/host-lifetime.js';
import { client } from '../support/clients.js';
import { type Opened, openGateway } from '../support/open-gateway.js';
import { commandUnit, fixtureUnit, type UnitMore } from '../support/server-definitions.js';
import { openFar, withTools } from '../support/upstream.js';

const AGAIN = { restart: { firstDelayMs: 300, jitter: 0 } };
const echo = (name: string, more: UnitMore = {}) =>
  fixtureUnit(name, 'server-slow-boot.mjs', ['0', 'dual'], {
    ...more,
    ...AGAIN,
    ...more,
  });
const DIES = ['-e', 'console.error("fatal: no API key"); process.exit(7)'];

const ready = async ({ get }: Opened) => (await get('/readyz')).status;
const untilReadyz = (opened: Opened, code: number) =>
  eventually(async () => expect(await ready(opened)).toBe(code));
const currentOf = async ({ status }: Opened, name: string) => {
  const { processes } = (await status()).servers[name]!;
  return processes!.processes[0]!;
};

describe('/healthz', () => {
  it('is 200 whatever becomes of the servers: it is about the gateway', async () => {
    const opened = await openGateway([commandUnit('bad', DIES)]);
    await opened.gateway
      .unit('bad')
      .start()
      .catch(() => {});
    const { status, text } = await opened.get('/healthz');
    expect([status, JSON.parse(text), await ready(opened)]).toEqual([200, { alive: true }, 503]);
  });
});

describe('/readyz', () => {
  it('is 503 until every needed server has answered, and names those that have not', async () => {
    const good = await openFar(withTools('one'));
    const folder = mkdtempSync(join(tmpdir(), 'isthmus-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const boots = join(folder, 'boots');
    const slow = fixtureUnit('slow', 'server-slow-boot.mjs', [boots, 'modern']);
    const opened = await openGateway([good.unit('good'), slow]);
    const early = await opened.get('/readyz');
    expect([early.status, JSON.parse(early.text)]).toEqual([503, { ready: false, waitingFor: ['slow'] }]);
    expect(await opened.status()).toMatchObject({ ready: false, servers: { slow: { state: 'starting' } } });
    writeFileSync(boots, '');
    await untilReadyz(opened, 200);
    expect(await opened.status()).toMatchObject({ ready: true, servers: { slow: { state: 'ready' } } });
  });

  it('is 503 at once when the process is killed, and 200 when another has answered (issue 1 of the peers)', async () => {
    const events: HostEvent[] = [];
    const opened = await openGateway([echo('a')], { onHostEvent: (event) => void events.push(event) });
    await untilReadyz(opened, 200);
    const { pid, generation, receipt } = await currentOf(opened, 'a');
    expect(receipt).toMatchObject({ pid, generation, complete: true });
    process.kill(pid!, 'SIGKILL');
    await eventually(() => expect(events.map(({ kind }) => kind)).toContain('exit'));
    const dead = await opened.get('/readyz');
    expect([dead.status, JSON.parse(dead.text)]).toEqual([503, { ready: false, waitingFor: ['a'] }]);
    const status = await opened.status();
    expect(status.servers['a']).toMatchObject({
      state: 'restarting',
      reason: expect.stringContaining('SIGKILL'),
    });
    expect(status.servers['a']!.processes!.processes[0]?.receipt).toBeUndefined();
    await untilReadyz(opened, 200);
    const next = await currentOf(opened, 'a');
    expect(next.pid).not.toBe(pid);
    expect(next.receipt).toMatchObject({ pid: next.pid, generation: generation + 1, complete: true });
    expect(await (await client(opened.url)).callTool('echo', { text: 'hi' })).toMatchObject({
      content: [{ text: 'hi' }],
    });
  });

  it('does not wait for a server that is not needed, nor for one that is switched off', async () => {
    const opened = await openGateway([
      echo('a'),
      commandUnit('bad', DIES, { needed: false }),
      echo('off', { disabled: true }),
    ]);
    await untilReadyz(opened, 200);
    await opened.gateway
      .unit('bad')
      .start()
      .catch(() => {});
    expect(await ready(opened)).toBe(200);
    expect(await opened.status()).toMatchObject({
      ready: true,
      servers: { bad: { state: 'failed', needed: false }, off: { state: 'off' } },
    });
  });

  it('does not wait for one that is started when it is used, and counts it when it fails then', async () => {
    const far = programmed({});
    const { command, args = [] } = far.definition();
    const opened = await openGateway([commandUnit('lazy', args, { command, start: 'lazy', ...AGAIN })]);
    expect([await ready(opened), (await opened.status()).servers['lazy']!.state]).toEqual([200, 'asleep']);
    expect(far.starts()).toEqual([]);
    far.becomes({ die: 3 });
    await expect(client(opened.url)).rejects.toThrow();
    await untilReadyz(opened, 503);
  });

  it('is 503 for a process that has answered its handshake but not its first list', async () => {
    const far = programmed({ failOn: 'tools/list' });
    const { command, args = [] } = far.definition();
    const opened = await openGateway([commandUnit('half', args, { command })]);
    await eventually(async () =>
      expect((await opened.status()).servers['half']).toMatchObject({
        state: 'failed',
        reason: expect.stringContaining('its first list failed'),
      }),
    );
    expect(await ready(opened)).toBe(503);
  });
});

describe('/status', () => {
  it('is 503 when no server is well, and 200 when any is', async () => {
    const bad = commandUnit('bad', DIES);
    const opened = await openGateway([bad, commandUnit('worse', [], { command: '/no/such/program' })]);
    for (const name of ['bad', 'worse'])
      await opened.gateway
        .unit(name)
        .start()
        .catch(() => {});
    expect((await opened.get('/status')).status).toBe(503);
    expect((await opened.status()).servers).toMatchObject({
      bad: { state: 'failed', reason: expect.stringContaining('code 7') },
      worse: { state: 'failed', reason: expect.stringContaining('ENOENT') },
    });
    const good = await openFar(withTools('one'));
    opened.gateway.apply([bad, good.unit('good')]);
    await eventually(async () => expect((await opened.get('/status')).status).toBe(200));
    expect(await ready(opened)).toBe(503);
  });

  it('has the receipts of the process that runs now, and says which era it speaks and why', async () => {
    const opened = await openGateway([fixtureUnit('old', 'server-slow-boot.mjs', ['0', 'legacy'])]);
    await untilReadyz(opened, 200);
    const first = await currentOf(opened, 'old');
    await opened.gateway.unit('old').restart();
    await untilReadyz(opened, 200);
    const { servers, ready: isReady, pid } = await opened.status();
    expect([isReady, pid]).toEqual([true, process.pid]);
    expect(servers['old']).toMatchObject({
      era: 'legacy',
      evidence: expect.any(String),
      server: { name: 'slow-boot', version: '1.0.0' },
    });
    const second = servers['old']!.processes!.processes;
    expect(second).toHaveLength(1);
    expect(second[0]!.pid).not.toBe(first.pid);
    expect(second[0]!.receipt).toMatchObject({ pid: second[0]!.pid, generation: 2, handshake: 'initialize' });
  });
});
