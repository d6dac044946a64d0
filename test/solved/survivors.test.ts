/** A gateway that is killed, suspended, or may start no more processes. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { zombiesOf } from '../../packages/sdk/test/support/host-lifetime.js';
import { ask, initialize, legacy } from '../../packages/sdk/test/support/http-server.js';
import { legacyHttp, modernHttp } from '../bridge-load/near/http.js';
import { program } from '../bridge-load/support/far.js';
import { fixture } from '../support/child.js';
import { until } from '../support/until.js';
import { call, said } from './support/gateway.js';
import {
  allGone,
  descendantsOf,
  type Entry,
  processesWith,
  type ServedFile,
  serveFile,
} from './support/serve-file.js';

const node = (path: string, ...args: string[]): Entry => ({
  command: process.execPath,
  args: [path, ...args],
});
const lines = node(program('legacy-lines.mjs'));

async function started(...how: Parameters<typeof serveFile>): Promise<ServedFile> {
  const gateway = await serveFile(...how);
  onTestFinished(() => gateway.reap());
  return gateway;
}

/** Limits on processes do not hold for root; but another user may lack the right to read this folder. */
const ANOTHER_USER =
  process.getuid?.() === 0
    ? [
        ...['setpriv', '--reuid=54321', '--clear-groups'],
        ...['--inh-caps=+dac_override', '--ambient-caps=+dac_override'],
      ]
    : [];
const canLimit = ['/usr/bin/setpriv', '/usr/bin/prlimit'].every((path) => existsSync(path));

it.runIf(canLimit)(
  'D-8 supercorp-ai/supergateway#177: when the system allows no more processes, the caller who needs one is told so, and others are unaffected',
  async () => {
    const servers = {
      good: lines,
      late: { ...lines, start: 'lazy' },
      each: { ...lines, processes: 'per-conversation' },
    };
    const gateway = await started(servers, { before: ANOTHER_USER });
    const good = await legacyHttp(gateway.at('/mcp/good'), 'good');
    const late = modernHttp(gateway.at('/mcp/late'), 'late');
    const pid = said(await call(good, 'pid'));
    limitProcesses(gateway.pid, '1');
    const refused = {
      code: -32603,
      message: expect.stringContaining('no more processes are allowed'),
      data: expect.objectContaining({ reason: 'CANNOT_START', sent: 'no' }),
    };
    for (let times = 0; times < 5; times += 1) {
      expect(said(await call(late, 'echo', { text: 'a' }))).toEqual(refused);
      const opening = await ask(gateway.at('/mcp/each'), legacy(initialize(1)));
      expect(opening.json.error).toEqual(refused);
      expect(said(await call(good, 'pid'))).toBe(pid);
    }
    expect((await gateway.get('/healthz')).status).toBe(200);
    expect(zombiesOf(gateway.pid)).toEqual([]);
    limitProcesses(gateway.pid, hardLimitOf(gateway.pid));
    expect(said(await call(late, 'echo', { text: 'a' }))).toBe('a');
    const each = await legacyHttp(gateway.at('/mcp/each'), 'each');
    expect(said(await call(each, 'echo', { text: 'b' }))).toBe('b');
    expect(said(await call(good, 'pid'))).toBe(pid);
  },
);

it('D-25 anthropics/claude-code#95821, #33947: kill -9 of the gateway leaves nobody, not even what npx and servers have started', async () => {
  const wrapped = { ...node(fixture('wrapper-like-npx.mjs')), needed: false };
  const gateway = await started({
    plain: lines,
    parent: node(fixture('server-leaves-grandchild.mjs'), 'ignore'),
    stubborn: node(fixture('server-ignores-sigterm.mjs')),
    wrapped,
  });
  const parent = modernHttp(gateway.at('/mcp/parent'), 'parent');
  const grandchild = Number(said(await call(parent, 'grandchild')));
  for (const name of ['plain', 'stubborn']) {
    expect(said(await call(modernHttp(gateway.at(`/mcp/${name}`), name), 'echo', { text: 'a' }))).toBe('a');
  }
  // Three servers, the wrapper with what it wraps, the grandchild, and the watch.
  await until('all of them run', () => descendantsOf(gateway.pid).length >= 7);
  const everybody = descendantsOf(gateway.pid);
  expect(everybody).toContain(grandchild);
  gateway.kill('SIGKILL');
  await gateway.ended;
  await allGone(everybody, 5000);
});

it('D-25 anthropics/claude-code#95821: connects that time out leave no process, and none of those that it has started', async () => {
  const mark = randomUUID();
  // It never answers, as far as MCP goes, and what it wraps ignores SIGTERM.
  const wrapped = {
    ...node(fixture('wrapper-like-npx.mjs')),
    ...{ env: { MARK: mark }, start: 'lazy', connectTimeoutMs: 500, restart: false },
    shutdown: { closeMs: 100, termMs: 100, killMs: 2000 },
  };
  const gateway = await started({ plain: lines, wrapped });
  const near = modernHttp(gateway.at('/mcp/wrapped'), 'near');
  for (let times = 0; times < 3; times += 1) {
    const failing = call(near, 'echo', { text: 'a' });
    await until('both of them run', () => processesWith(`MARK=${mark}`).length === 2);
    const { error } = await failing;
    expect(error).toMatchObject({ code: -32603, data: { reason: 'TIMED_OUT', sent: 'no' } });
    await until('nobody is left of it', () => processesWith(`MARK=${mark}`).length === 0, 5000);
  }
  expect(zombiesOf(gateway.pid)).toEqual([]);
});

function hardLimitOf(pid: number): string {
  return /^Max processes +\S+ +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))![1]!;
}

function limitProcesses(pid: number, soft: string): void {
  const [command, ...args] = [...ANOTHER_USER, 'prlimit', '--pid', String(pid), `--nproc=${soft}:`];
  execFileSync(command!, args);
}
