import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { daemonPaths } from '@isthmus/gateway/internal/daemon/daemon-paths.js';
import { describe, expect, test, vi } from 'vitest';
import { CLIENTS } from '../../../../test/bridge-matrix/clients/index.js';
import type { ClientKind } from '../../../../test/bridge-matrix/clients/session.js';
import { type Child, fixture, ISTHMUS } from '../../../../test/support/child.js';
import { call, initialize, legacyCall, request, textOf } from '../../../../test/support/messages.js';
import {
  command,
  daemonPids,
  gone,
  host,
  serverPids,
  shim,
  useDaemonHome,
} from '../../../gateway/test/support/daemon-home.js';

const home = useDaemonHome();
const [v1, , v2modern] = CLIENTS as [ClientKind, ClientKind, ClientKind];
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

/** A server that writes down each call that reaches it. */
function notes(era = 'dual'): string[] {
  return command(home, fixture('server-notes-its-calls.mjs'), join(home.work, 'diary'), era);
}

function diary(): string[] {
  return readFileSync(join(home.work, 'diary'), 'utf8').trim().split('\n');
}

async function kill(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await gone(pid);
}

async function openLegacy(child: Child): Promise<void> {
  child.send(initialize('init'), INITIALIZED);
  await child.answer('init');
}

describe('when the daemon is killed', () => {
  test('hosts of both eras go on with a fresh one, and no process of the dead one is left (D-25)', async () => {
    const words = command(home, fixture('server-leaves-grandchild.mjs'), 'ignore');
    const [old, modern] = await Promise.all([host(home, v1, ...words), host(home, v2modern, ...words)]);
    await old.call('echo', { text: 'before' });
    const [daemon] = daemonPids(home);
    const before = serverPids(home);
    expect(before).toHaveLength(2);
    await kill(daemon!);
    const said = await Promise.all([old, modern].map((session) => session.call('echo', { text: 'after' })));
    expect(said.map(({ content }) => content[0])).toEqual([
      { type: 'text', text: 'after' },
      { type: 'text', text: 'after' },
    ]);
    for (const pid of before) await gone(pid);
    expect(daemonPids(home)).toHaveLength(1);
    expect(serverPids(home)).toHaveLength(2);
  });

  test('a call in flight is answered with sent: maybe, and is not made again', async () => {
    const child = shim(home, ...notes());
    await openLegacy(child);
    child.send(legacyCall(1, 'run', { token: 'only once', ms: 60_000 }));
    await vi.waitFor(() => expect(diary()).toEqual(['only once']), { timeout: 10_000 });
    await kill(daemonPids(home)[0]!);
    expect((await child.answer(1)).error).toEqual({
      code: -32603,
      message:
        'The daemon that serves server-notes-its-calls.mjs ended while this request was in flight; it may have run',
      data: { reason: 'CONNECTION_CLOSED', sent: 'maybe' },
    });
    child.send(legacyCall(2, 'run', { token: 'another' }));
    expect(textOf(await child.answer(2))).toBe('another');
    expect(diary()).toEqual(['only once', 'another']);
    // One answer for each request: what was said again for the host has none that it can see.
    expect(child.messages.map(({ id }) => id)).toEqual(['init', 1, 2]);
    expect(child.impure).toEqual([]);
  });

  test('hosts that come back at the same instant have one daemon', async () => {
    const children = Array.from({ length: 6 }, () => shim(home, ...notes()));
    await Promise.all(children.map(openLegacy));
    await kill(daemonPids(home)[0]!);
    for (const child of children) child.send(legacyCall(1, 'run', { token: 'again' }));
    for (const child of children) {
      expect(await child.answer(1)).toMatchObject({ result: { content: [{ text: 'again' }] } });
    }
    expect(daemonPids(home)).toHaveLength(1);
    expect(serverPids(home)).toHaveLength(1);
  });
});

test('a shim that is killed is detached, and its server released', async () => {
  const child = shim(home, '--grace', '100', ...notes());
  await openLegacy(child);
  const [daemon, server] = [daemonPids(home)[0]!, serverPids(home)[0]!];
  child.kill('SIGKILL');
  await gone(server);
  await gone(daemon);
});

test('D-22: a sibling that a host launches only to probe never starts a second copy', async () => {
  const words = command(home, fixture('server-exits-on-discover.mjs'));
  const child = shim(home, ...words);
  await openLegacy(child);
  const before = serverPids(home);
  expect(before).toHaveLength(1);
  const sibling = shim(home, ...words);
  sibling.send(request('probe', 'server/discover'));
  expect((await sibling.answer('probe')).result).toMatchObject({ resultType: 'complete' });
  sibling.end();
  expect(await sibling.exit(5000)).toEqual({ code: 0, signal: null });
  expect(serverPids(home)).toEqual(before);
});

describe('a stubborn server never runs twice:', () => {
  /** The words for one that heeds nothing but SIGKILL, which comes so late that another could be started meanwhile. */
  function stubborn(termMs: number): string[] {
    const file = join(home.work, 'mcp.json');
    const args = [fixture('server-ignores-sigterm.mjs')];
    const entry = { command: process.execPath, args, shutdown: { closeMs: 100, termMs } };
    writeFileSync(file, JSON.stringify({ mcpServers: { stubborn: entry } }));
    return ['stubborn', '--config', file, '--grace', '0'];
  }

  /** The most that lived at the same time, until the host has its answer. */
  async function mostUntilAnswered(child: Child): Promise<number> {
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, serverPids(home).length);
    }, 10);
    try {
      expect(textOf(await child.answer(1))).toBe('hi');
    } finally {
      clearInterval(watch);
    }
    return most;
  }

  test('a host that comes when it is just being released waits for its end', async () => {
    const words = stubborn(900);
    const first = shim(home, ...words);
    await openLegacy(first);
    const [server] = serverPids(home);
    first.end();
    await first.exit(5000);
    const second = shim(home, ...words);
    second.send(call(1, 'echo', { text: 'hi' }));
    expect(await mostUntilAnswered(second)).toBe(1);
    expect(serverPids(home)).not.toContain(server);
  });

  test('a daemon that is told to end is waited for by the next one', async () => {
    const words = stubborn(2400);
    const first = shim(home, ...words);
    await openLegacy(first);
    const [daemon, server] = [daemonPids(home)[0]!, serverPids(home)[0]!];
    process.kill(daemon, 'SIGTERM');
    const second = shim(home, ...words);
    second.send(call(1, 'echo', { text: 'hi' }));
    expect(await mostUntilAnswered(second)).toBe(1);
    expect(serverPids(home)).not.toContain(server);
    expect(daemonPids(home)).not.toContain(daemon);
    // The first host notices nothing.
    first.send(legacyCall(2, 'echo', { text: 'me too' }));
    expect(textOf(await first.answer(2))).toBe('me too');
  });
});

describe('what cannot be started is told to the host', () => {
  test('D-7: a server that dies at its start, with the last lines of its stderr', async () => {
    const child = shim(home, ...command(home, fixture('child-that-dies-at-start.mjs')));
    const began = Date.now();
    child.send(initialize(1));
    const { error } = await child.answer(1);
    expect(error?.message).toMatch(/stopped with code 1 .*missing API key/s);
    expect(error?.data).toMatchObject({
      reason: 'CHILD_EXITED',
      stderrTail: expect.stringContaining('missing API key'),
    });
    expect(Date.now() - began).toBeLessThan(10_000);
    child.end();
    expect(await child.exit(5000)).toEqual({ code: 0, signal: null });
  });

  test('a daemon, with why, and the shim ends with 3', async () => {
    const { socket } = daemonPaths({ env: home.env, host: hostname() });
    mkdirSync(socket, { recursive: true, mode: 0o700 });
    const child = shim(home, ...command(home, ISTHMUS, 'demo'));
    child.send(initialize(1));
    expect((await child.answer(1)).error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('the path exists and is not a socket'),
      data: { reason: 'CANNOT_START', sent: 'no' },
    });
    child.end();
    expect(await child.exit(5000)).toEqual({ code: 3, signal: null });
  });
});
