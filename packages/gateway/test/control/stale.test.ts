import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { controlClient, listGateways, openControl, withPathLock } from '../../src/control/index.js';
import { fakeGateway, later, scratch } from '../support/control.js';

/** Leaves a socket behind, as a process does that is killed. */
async function leaveSocket(path: string): Promise<number> {
  const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.stdout.write('up'))`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  later(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  return child.pid!;
}

describe('a socket that a dead process left', () => {
  it('is replaced by exactly one of several processes', async () => {
    const path = join(scratch(), 'a.sock');
    await leaveSocket(path);
    expect(existsSync(path)).toBe(true);
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, () => openControl(fakeGateway(), { path })),
    );
    for (const attempt of attempts) if (attempt.status === 'fulfilled') later(() => attempt.value.close());
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const client = controlClient(path);
    expect((await client.status()).pid).toBe(4711);
  });

  it('is reported as a socket without a process', async () => {
    const path = join(scratch(), 'a.sock');
    await leaveSocket(path);
    await expect(controlClient(path).status()).rejects.toMatchObject({
      code: 'ADDRESS_UNAVAILABLE',
      message: `Cannot connect to the control socket ${path}: no process listens there`,
    });
  });

  it('is removed by the search for gateways', async () => {
    const root = scratch();
    const place = {
      env: { XDG_RUNTIME_DIR: root },
      home: () => root,
      tmp: root,
      platform: 'linux' as const,
    };
    const folder = join(root, 'isthmus');
    const control = await openControl(fakeGateway(), { path: join(folder, 'living.sock') });
    later(() => control.close());
    await leaveSocket(join(folder, 'dead.sock'));
    expect((await listGateways(place)).map(({ name }) => name)).toEqual(['living']);
    expect(readdirSync(folder)).toEqual(['living.sock']);
  });
});

describe('the running gateways', () => {
  it('are found in all folders, the longest running first, with the problem of one that does not answer', async () => {
    const root = scratch();
    const place = { env: { XDG_RUNTIME_DIR: root }, home: () => root, tmp: root, platform: 'linux' as const };
    const at = async (path: string, startedAt: string, pid: number) => {
      const control = await openControl(fakeGateway({ status: { startedAt, pid } }), { path });
      later(() => control.close());
    };
    await at(join(root, 'isthmus', 'young.sock'), '2026-07-28T10:00:00.000Z', 2);
    await at(join(root, '.local', 'state', 'isthmus', 'run', 'old.sock'), '2026-07-27T10:00:00.000Z', 1);
    const silent = fakeGateway();
    const control = await openControl(
      { ...silent, status: () => new Promise(() => {}) },
      { path: join(root, 'isthmus', 'silent.sock') },
    );
    later(() => control.close());
    const found = await listGateways({ ...place, askMs: 4000 });
    expect(found.map(({ name, status, problem }) => [name, status?.pid ?? problem])).toEqual([
      ['old', 1],
      ['young', 2],
      ['silent', 'The gateway did not answer status within 4000 ms'],
    ]);
  });

  it('are none where there is no folder', async () => {
    const root = join(scratch(), 'nowhere');
    expect(await listGateways({ env: { XDG_RUNTIME_DIR: root }, home: () => root, tmp: root })).toEqual([]);
    expect(existsSync(root)).toBe(false);
  });
});

describe('the lock of a path', () => {
  it('is held by one at a time', async () => {
    const path = join(scratch(), 'a.sock');
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 5 }, () => withPathLock(path, work)));
    expect(most).toBe(1);
  });

  it('of a dead process is removed', async () => {
    const folder = scratch();
    const dead = await leaveSocket(join(folder, 'x'));
    writeFileSync(join(folder, 'a.sock.lock'), String(dead));
    expect(await withPathLock(join(folder, 'a.sock'), async () => 'done', { waitMs: 500 })).toBe('done');
  });

  it('that is old is removed, even if its pid is in use', async () => {
    const path = join(scratch(), 'a.sock');
    writeFileSync(`${path}.lock`, String(process.pid));
    utimesSync(`${path}.lock`, new Date(0), new Date(0));
    expect(await withPathLock(path, async () => 'done', { waitMs: 500 })).toBe('done');
  });

  it('of a live process is waited for, within a bound', async () => {
    const path = join(scratch(), 'a.sock');
    writeFileSync(`${path}.lock`, String(process.pid));
    await expect(withPathLock(path, async () => 'done', { waitMs: 60 })).rejects.toMatchObject({
      code: 'BUSY',
    });
    expect(existsSync(`${path}.lock`)).toBe(true);
  });
});
