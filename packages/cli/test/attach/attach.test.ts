import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { CLIENTS } from '../../../../test/bridge-matrix/clients/index.js';
import type { ClientKind, Session } from '../../../../test/bridge-matrix/clients/session.js';
import { fixture, ISTHMUS } from '../../../../test/support/child.js';
import { initialize, legacyCall, textOf } from '../../../../test/support/messages.js';
import {
  command,
  daemonPids,
  gone,
  host,
  serverPids,
  shim as startShim,
  useDaemonHome,
} from '../../../gateway/test/support/daemon-home.js';
import { EVERYTHING } from '../support/isthmus.js';

const home = useDaemonHome();
const [v1, v2auto, v2modern] = CLIENTS as [ClientKind, ClientKind, ClientKind];
const LEGACY_ONLY = fileURLToPath(
  new URL('../../../../test/bridge-matrix/fixtures/v1-stdio.mjs', import.meta.url),
);
const MODERN_ONLY = fileURLToPath(
  new URL('../../../../test/bridge-matrix/fixtures/v2-stdio.mjs', import.meta.url),
);

async function echo(session: Session, text: string): Promise<unknown> {
  return (await session.call('echo', { text })).content;
}

describe('isthmus attach', () => {
  test('D-21: ten hosts at the same instant have one daemon and one child, released after the last detach', async () => {
    const words = ['--grace', '300', ...command(home, ISTHMUS, 'demo')];
    const kinds = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? v1 : v2auto));
    const hosts = await Promise.all(kinds.map((kind) => host(home, kind, ...words)));
    const said = await Promise.all(hosts.map((session, at) => echo(session, `host ${at}`)));
    expect(said).toEqual(hosts.map((_, at) => [{ type: 'text', text: `host ${at}` }]));
    const [daemon, ...daemons] = daemonPids(home);
    expect(daemons).toEqual([]);
    const [server, ...servers] = serverPids(home);
    expect(servers).toEqual([]);
    const [last, ...others] = hosts;
    await Promise.all(others.map((session) => session.close()));
    expect(await echo(last!, 'still here')).toEqual([{ type: 'text', text: 'still here' }]);
    expect(serverPids(home)).toEqual([server]);
    await last!.close();
    await gone(server!);
    await gone(daemon!);
  });

  test('a legacy host reaches a server that is modern only, and is asked by it (D-13)', async () => {
    const session = await host(home, v1, ...command(home, MODERN_ONLY));
    expect(session.era).toBe('legacy');
    expect(await session.call('ask_user', { message: 'Who?' })).toMatchObject({
      content: [{ text: 'accept Ada of Who?' }],
    });
  });

  test('a modern host reaches a server that is legacy only, and is asked by it', async () => {
    const session = await host(home, v2modern, ...command(home, LEGACY_ONLY));
    expect(session.era).toBe('modern');
    expect(await session.call('ask_user', { message: 'Who?' })).toMatchObject({
      content: [{ text: 'accept Ada of Who?' }],
    });
  });

  test('of two hosts of one process, the one that calls is asked', async () => {
    const [ada, bob] = await Promise.all([
      host(home, v1, ...command(home, LEGACY_ONLY)),
      host(home, v2modern, ...command(home, LEGACY_ONLY)),
    ]);
    expect(serverPids(home)).toHaveLength(1);
    ada.answers = { ...ada.answers, sample: () => 'Ada' };
    bob.answers = { ...bob.answers, sample: () => 'Bob' };
    expect(await ada.call('ask_model', { prompt: '?' })).toMatchObject({
      content: [{ text: 'parrot says Ada' }],
    });
    expect(bob.questions).toEqual([]);
    expect(await bob.call('ask_model', { prompt: '?' })).toMatchObject({
      content: [{ text: 'parrot says Bob' }],
    });
    expect(ada.questions).toHaveLength(1);
  });

  test('server-everything serves a host of either era', async () => {
    const [old, modern] = await Promise.all([
      host(home, v1, ...command(home, EVERYTHING)),
      host(home, v2modern, ...command(home, EVERYTHING)),
    ]);
    for (const session of [old, modern]) {
      expect(await session.call('echo', { message: 'hi' })).toMatchObject({
        content: [{ text: 'Echo: hi' }],
      });
    }
    expect(serverPids(home)).toHaveLength(1);
  });

  test('hosts of a server with a process per conversation have one each, whatever their era', async () => {
    const file = join(home.work, 'mcp.json');
    const entry = { command: process.execPath, args: [ISTHMUS, 'demo'], processes: 'per-conversation' };
    writeFileSync(file, JSON.stringify({ mcpServers: { demo: entry } }));
    const hosts = await Promise.all(
      [v1, v2modern, v2modern].map((kind) => host(home, kind, 'demo', '--config', file)),
    );
    for (const session of hosts) await echo(session, 'hi');
    expect(serverPids(home)).toHaveLength(3);
    await hosts[1]!.close();
    await vi.waitFor(() => expect(serverPids(home)).toHaveLength(2), { timeout: 5000 });
    expect(daemonPids(home)).toHaveLength(1);
  });

  test('a host that comes after the file was changed has the server as it is now; others keep theirs', async () => {
    const file = join(home.work, 'mcp.json');
    const write = (era: string) => {
      const args = [fixture('server-notes-its-calls.mjs'), join(home.work, 'diary'), era];
      writeFileSync(file, JSON.stringify({ mcpServers: { notes: { command: process.execPath, args } } }));
    };
    write('legacy');
    const first = await host(home, v1, 'notes', '--config', file);
    write('modern');
    const second = await host(home, v1, 'notes', '--config', file);
    for (const session of [first, second]) {
      expect(await session.call('run', { token: 'a' })).toMatchObject({ content: [{ text: 'a' }] });
    }
    expect(serverPids(home)).toHaveLength(2);
    expect(daemonPids(home)).toHaveLength(1);
  });

  test('what is in flight is answered when the host closes its end, and the exit code is 0', async () => {
    const shim = startShim(home, ...command(home, ISTHMUS, 'demo'));
    shim.send(initialize(1), { jsonrpc: '2.0', method: 'notifications/initialized' });
    await shim.answer(1);
    shim.send(legacyCall(2, 'sleep', { ms: 300 }));
    shim.end();
    expect(await shim.exit(5000)).toEqual({ code: 0, signal: null });
    expect(textOf(await shim.answer(2))).toBe('slept 300 ms');
    expect(shim.impure).toEqual([]);
  });

  test('without a daemon the server is a child of the shim, and ends with it', async () => {
    const shim = startShim(home, '--no-daemon', ...command(home, ISTHMUS, 'demo'));
    shim.send(
      initialize(1),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      legacyCall(2, 'echo', { text: 'hi' }),
    );
    expect(textOf(await shim.answer(2))).toBe('hi');
    expect(daemonPids(home)).toEqual([]);
    const [server] = serverPids(home);
    shim.end();
    expect(await shim.exit(5000)).toEqual({ code: 0, signal: null });
    await gone(server!);
  });
});
