import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  connect,
  createBridge,
  createHost,
  createServer,
  type HostEvent,
  http,
  memory,
  readServers,
  serve,
  tcp,
} from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../support/child.js';

/** A server at a URL that can be stopped and started again at the same port. */
async function serveAt(port = 0, name = 'remote') {
  const server = createServer({ name, version: '1' });
  server.tool('who', {}, () => name);
  const listener = http({ port });
  const served = await serve(server, listener);
  onTestFinished(() => served.close({ graceMs: 0 }));
  const [url] = served.addresses as [string];
  return { url, port: Number(new URL(url).port), served };
}

function hostOf(servers: Parameters<typeof createHost>[0] & {}) {
  const host = createHost({ ledger: false, cache: false, ...servers });
  onTestFinished(() => host.close());
  return host;
}

const textOf = (result: { content: readonly object[] }) => (result.content[0] as { text: string }).text;

describe('N2: a host takes what readServers returns', () => {
  it('N2: commands and URLs of a file, as the whole result or its servers', async () => {
    const { url } = await serveAt();
    const folder = await mkdtemp(join(tmpdir(), 'isthmus-n2-'));
    const file = join(folder, 'mcp.json');
    const command = { command: process.execPath, args: [fixture('server-echoes-in-step.mjs')] };
    await writeFile(file, JSON.stringify({ mcpServers: { local: command, remote: { type: 'http', url } } }));
    const read = await readServers(file);
    for (const servers of [read, read.servers]) {
      const host = hostOf({ servers });
      expect(textOf(await host.conversation('remote').callTool('who'))).toBe('remote');
      expect((await host.conversation('local').listTools()).length).toBeGreaterThan(0);
      expect(Object.keys((await host.status()).servers)).toEqual(['local', 'remote']);
      await host.close();
    }
  });

  it('N2: a promise and a wrong definition are named', () => {
    expect(() => hostOf({ servers: readServers('x.json') as never })).toThrow(
      'servers must be an object with the servers by name, got a promise; await it',
    );
    expect(() => hostOf({ servers: { a: 'node server.js' } as never })).toThrow(
      'Server a: write { command, args } or { url }, got a string',
    );
    expect(() => hostOf({ servers: { a: { url: 'ftp://x' } } })).toThrow('is not an http:// or https:// URL');
    expect(() => hostOf({ servers: { a: { url: 'http://127.0.0.1:1/mcp', header: {} } as never } })).toThrow(
      'Server a has no option "header"; did you mean "headers"?',
    );
  });
});

describe('N2: a server at an address', () => {
  it('N2: has a status and events, and is connected again after it was away', async () => {
    const first = await serveAt();
    const host = hostOf({ servers: { remote: { url: first.url } } });
    const seen: HostEvent[] = [];
    host.watch((event) => seen.push(event));
    expect(host.snapshot('remote')).toMatchObject({ state: 'idle', ready: false, processes: [] });
    const chat = host.conversation('remote');
    await chat.callTool('who');
    expect(host.snapshot('remote')).toMatchObject({ state: 'ready', ready: true, conversations: 1 });
    await first.served.close({ graceMs: 0 });
    await expect(chat.callTool('who')).rejects.toThrow();
    await serveAt(first.port, 'again');
    expect(textOf(await chat.callTool('who', {}, { retry: 'safe' }))).toBe('again');
    expect(seen.map(({ kind }) => kind).slice(0, 2)).toEqual(['start', 'ready']);
  });

  it('N2: start tells why a server cannot be reached', async () => {
    const host = hostOf({ servers: { gone: { url: 'http://127.0.0.1:1/mcp' } } });
    await expect(host.start('gone')).rejects.toThrow('127.0.0.1:1');
    expect(host.snapshot('gone')).toMatchObject({ state: 'idle', lastExit: { phase: 'start' } });
  });

  it('N2: can be switched off, on, restarted and reconfigured', async () => {
    const [one, two] = [await serveAt(0, 'one'), await serveAt(0, 'two')];
    const host = hostOf({ servers: { remote: { url: one.url } } });
    const chat = host.conversation('remote');
    expect(textOf(await chat.callTool('who'))).toBe('one');
    await host.disable('remote');
    expect(host.snapshot('remote')?.state).toBe('stopped');
    await expect(chat.callTool('who')).rejects.toMatchObject({ code: 'DISABLED' });
    await host.enable('remote');
    await host.restart('remote');
    expect(textOf(await chat.callTool('who'))).toBe('one');
    await host.configure({ remote: { url: two.url } });
    expect(textOf(await chat.callTool('who'))).toBe('two');
    await host.configure({});
    expect(host.snapshot('remote')).toBeUndefined();
  });

  it('N2: is the upstream of a bridge, at a socket as well', async () => {
    const server = createServer({ name: 'socket', version: '1' });
    server.tool('who', {}, () => 'socket');
    const served = await serve(server, tcp({ port: 0 }));
    onTestFinished(() => served.close({ graceMs: 0 }));
    const host = hostOf({ servers: { sock: { address: served.addresses[0]! } } });
    await using bridge = createBridge(host.upstream('sock'));
    const link = memory();
    await using _served = await serve(bridge, link);
    await using client = await connect(link);
    expect(textOf(await client.callTool('who'))).toBe('socket');
    expect(host.snapshot('sock')?.conversations).toBeGreaterThan(0);
  });
});
