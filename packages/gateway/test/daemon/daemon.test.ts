import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DISCOVERED, faultServer } from '../../../sdk/test/support/fault-server.js';
import { controlClient } from '../../src/control/index.js';
import { type DaemonOptions, openDaemon } from '../../src/daemon/daemon.js';
import { daemonPaths, openPaths } from '../../src/daemon/daemon-paths.js';
import type { AttachParams } from '../../src/daemon/definition.js';
import { daemonLog, openLog, readLogFrom } from '../../src/daemon/log-file.js';

function freeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-daemon-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A daemon in this process, for servers that are elsewhere. */
async function startDaemon(options: Partial<DaemonOptions> = {}) {
  const places = openPaths(daemonPaths({ env: { ISTHMUS_RUNTIME_DIR: join(freeFolder(), 'run') } }));
  const released = vi.fn();
  const daemon = await openDaemon({
    ...{ paths: places, lock: { release: released }, log: { say() {} }, version: '1', ...options },
  });
  onTestFinished(() => daemon.close(0));
  return { daemon, places, released, client: controlClient(places.socket) };
}

function remote(url: string, changed: Partial<AttachParams> = {}): Record<string, unknown> {
  return {
    server: { kind: 'url', name: 'remote', url, transport: 'auto', headers: {} },
    ambient: {},
    graceMs: 0,
    ...changed,
  };
}

test('a daemon without hosts ends by itself, and releases its lock last', async () => {
  const { daemon, released, places } = await startDaemon({ firstMs: 20 });
  expect(released).not.toHaveBeenCalled();
  await daemon.ended;
  expect(released).toHaveBeenCalledOnce();
  await expect(controlClient(places.socket).status()).rejects.toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
});

test('hosts beyond the bound are refused, and the others are served', async () => {
  const { client, daemon } = await startDaemon({ maxAttached: 2 });
  const { url } = await faultServer(({ reply }) => reply(DISCOVERED));
  const [first] = await Promise.all([1, 2].map(() => client.attach(remote(url))));
  await expect(client.attach(remote(url))).rejects.toMatchObject({
    code: 'BUSY',
    message: 'The daemon is busy: 2 hosts are attached to it',
  });
  first!.stream.destroy();
  await vi.waitFor(async () => {
    const { stream } = await client.attach(remote(url));
    stream.destroy();
  });
  await daemon.close(0);
});

test('an invalid request is refused with the reason, and other hosts do not notice', async () => {
  const { client } = await startDaemon();
  const { url } = await faultServer(({ reply }) => reply(DISCOVERED));
  const { stream } = await client.attach(remote(url));
  await expect(client.attach({ unit: 'x' })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  await expect(client.attach(remote('ftp://example.com'))).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('is not an http:// or https:// URL'),
  });
  expect(stream.destroyed).toBe(false);
});

test('a host that goes away while it is being attached does not keep the daemon alive', async () => {
  const { client, daemon } = await startDaemon();
  const { url, seen } = await faultServer(({ verb, res, say }) => {
    if (verb === 'GET') setTimeout(() => say(404, 'no'), 150);
    else res.destroy();
  });
  const going = new AbortController();
  client.attach(remote(url, { sseFirst: true }), going.signal).catch(() => {});
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  going.abort();
  await daemon.ended;
});

test('the log stays within its bound, and its older half is kept in another file', () => {
  const file = join(freeFolder(), 'log');
  const { descriptor, end } = openLog(file);
  const log = daemonLog(descriptor, file, 1000);
  for (let line = 0; line < 100; line += 1) log.say(`line ${line} ${'x'.repeat(50)}\nand no more`);
  expect(statSync(file).size).toBeLessThan(1200);
  expect(statSync(`${file}.1`).size).toBeLessThan(1200);
  expect(readFileSync(`${file}.1`, 'utf8') + readLogFrom(file, end)).toMatch(
    /line 98 x+ and no more\n.*line 99 /s,
  );
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
});
