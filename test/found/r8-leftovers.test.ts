import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sweepSockets } from '@isthmus/gateway/internal/control/index.js';
import { fileEraCache } from '@isthmus/sdk/internal/client/negotiation/era-cache.js';
import { expect, it, onTestFinished } from 'vitest';
import { isLiving } from '../../packages/gateway/test/support/daemon-home.js';
import { childrenOf } from '../../packages/sdk/test/support/host-lifetime.js';
import { ISTHMUS, startChild } from '../support/child.js';
import { eventually } from '../support/until.js';
import { notesFile, staying } from './support-ends.js';

function freshFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'isthmus-left-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('R8: a gateway removes the sockets that killed gateways have left, and no other', async () => {
  const folder = freshFolder();
  const before = process.env['ISTHMUS_RUNTIME_DIR'];
  process.env['ISTHMUS_RUNTIME_DIR'] = folder;
  const start = () =>
    startChild(ISTHMUS, {
      args: ['serve', '--port', '0', '--json', '-q', '--', process.execPath, ISTHMUS, 'demo'],
    });
  const [killed, living] = [start(), start()];
  onTestFinished(() => {
    if (before === undefined) delete process.env['ISTHMUS_RUNTIME_DIR'];
    else process.env['ISTHMUS_RUNTIME_DIR'] = before;
  });
  await Promise.all([killed.first(1), living.first(1)]);
  const sockets = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.sock'))
      .sort();
  expect(sockets()).toEqual([`gateway-${killed.pid}.sock`, `gateway-${living.pid}.sock`].sort());
  killed.kill('SIGKILL');
  await killed.exit();
  const third = start();
  await third.first(1);
  await eventually(() => {
    expect(sockets()).toEqual([`gateway-${living.pid}.sock`, `gateway-${third.pid}.sock`].sort());
  });
});

it('R8: only sockets of gateways are swept', async () => {
  const folder = freshFolder();
  writeFileSync(join(folder, 'gateway-1.sock'), 'a file');
  const server = createServer().listen(join(folder, 'gateway-2.sock'));
  onTestFinished(() => void server.close());
  await sweepSockets(join(folder, 'gateway-3.sock'));
  expect(readdirSync(folder).sort()).toEqual(['gateway-1.sock', 'gateway-2.sock']);
});

it('R8: drafts of the era cache whose process was killed are removed, also where all verdicts are known', async () => {
  const folder = join(freshFolder(), 'eras');
  mkdirSync(folder);
  const draft = (name: string, minutes: number) => {
    const file = join(folder, name);
    writeFileSync(file, '{');
    utimesSync(file, Date.now() / 1000 - minutes * 60, Date.now() / 1000 - minutes * 60);
  };
  for (let at = 0; at < 50; at += 1) draft(`a.json.${at}.tmp`, 11);
  draft('b.json.1.tmp', 1);
  await fileEraCache({ folder }).get('a server');
  await expect.poll(() => readdirSync(folder)).toEqual(['b.json.1.tmp']);
});

it('R8: when isthmus call is killed, its server and what that has started are gone, though they heed nothing', async () => {
  const notes = notesFile();
  // As npx does: the server is not the process that was started.
  const line = `${staying(notes.file).join(' ')}; exit 0`;
  const child = startChild(ISTHMUS, {
    args: ['call', '--timeout', '60000', 'wait', '--', 'sh', '-c', line],
  });
  await eventually(() => expect(notes.read(), child.stderr).toContain('call'));
  const servers = childrenOf(child.pid).flatMap((pid) => [pid, ...childrenOf(pid)]);
  expect(servers.length).toBeGreaterThan(1);
  child.kill('SIGKILL');
  await eventually(() => expect(servers.filter(isLiving)).toEqual([]));
});
