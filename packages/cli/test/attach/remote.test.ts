import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { http } from '@isthmus/sdk/http';
import { createServer } from '@isthmus/sdk/internal/server/create-server.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CLIENTS } from '../../../../test/bridge-matrix/clients/index.js';
import type { ClientKind } from '../../../../test/bridge-matrix/clients/session.js';
import { startUpstream, UPSTREAMS } from '../../../../test/bridge-matrix/upstreams.js';
import { call, initialize, legacyCall, textOf } from '../../../../test/support/messages.js';
import { daemonPids, gone, host, shim, useDaemonHome } from '../../../gateway/test/support/daemon-home.js';
import { DISCOVERED, FINE, faultServer } from '../../../sdk/test/support/fault-server.js';
import { isthmus } from '../support/isthmus.js';

const home = useDaemonHome();
const [v1, , v2modern] = CLIENTS as [ClientKind, ClientKind, ClientKind];

async function upstream(name: string): Promise<string> {
  const { address, close } = await startUpstream(UPSTREAMS.find((each) => each.name === name)!);
  onTestFinished(close);
  return (address as { url: string }).url;
}

describe('isthmus attach --url', () => {
  test('D-13: a legacy host reaches a modern server by default, and is asked by it', async () => {
    const session = await host(home, v1, '--url', await upstream('v2-http'));
    expect(session.era).toBe('legacy');
    expect(await session.call('ask_user', { message: 'Who?' })).toMatchObject({
      content: [{ text: 'accept Ada of Who?' }],
    });
  });

  test('a modern host reaches a legacy server with sessions, and is asked by it', async () => {
    // As mcp-remote has it: the URL is a word.
    const session = await host(home, v2modern, await upstream('v1-http'));
    expect(session.era).toBe('modern');
    expect(await session.call('ask_user', { message: 'Who?' })).toMatchObject({
      content: [{ text: 'accept Ada of Who?' }],
    });
  });

  test('each transport finds the servers that it is for', async () => {
    const server = createServer({ name: 'both', version: '1' });
    server.tool('echo', {}, () => 'hi');
    const served = await serve(server, http({ port: 0, sse: true }));
    onTestFinished(() => served.close({ graceMs: 0 }));
    const [mcp] = served.addresses as [string];
    const sse = mcp.replace('/mcp', '/sse');
    const found = [
      [sse, 'sse-first'],
      [sse, 'sse-only'],
      [sse, 'http-first'],
      [mcp, 'sse-first'],
      [mcp, 'http-only'],
    ].map(([url, transport]) => {
      const child = shim(home, '--url', url!, '--transport', transport!);
      child.send(initialize(1), { jsonrpc: '2.0', method: 'notifications/initialized' });
      child.send(legacyCall(2, 'echo'));
      return child.answer(2).then(textOf);
    });
    expect(await Promise.all(found)).toEqual(['hi', 'hi', 'hi', 'hi', 'hi']);
    const child = shim(home, '--url', sse, '--transport', 'http-only');
    child.send(initialize(1));
    expect((await child.answer(1)).error).toMatchObject({ code: -32603 });
  });

  test('hosts share a remote server when their headers are equal, and never otherwise', async () => {
    const seen: string[] = [];
    const { url } = await faultServer(({ headers, method, reply }) => {
      if (method === 'server/discover') seen.push(String(headers['authorization']));
      return reply(method === 'server/discover' ? DISCOVERED : FINE);
    });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is for the shim to expand
    const words = ['--header', 'Authorization: Bearer ${TOKEN}'];
    for (const token of ['one', 'two', 'one']) {
      process.env['TOKEN'] = `${token}-s3cret-of-the-host`;
      const child = shim(home, '--url', `${url}?key=qu3ry-s3cret`, ...words);
      delete process.env['TOKEN'];
      child.send(call(1, 'greet'));
      expect(textOf(await child.answer(1))).toBe('fine');
    }
    expect(seen).toEqual(['Bearer one-s3cret-of-the-host', 'Bearer two-s3cret-of-the-host']);
    const { stdout } = await isthmus('daemon', 'status', '--json');
    const { servers } = JSON.parse(stdout) as { servers: Record<string, { attached: number }> };
    expect(Object.values(servers).map(({ attached }) => attached)).toEqual([2, 1]);
    const [daemon] = daemonPids(home);
    const logs = readdirSync(home.run).filter((name) => name.includes('.log'));
    const visible = [
      stdout,
      ...logs.map((name) => readFileSync(join(home.run, name), 'utf8')),
      ...['cmdline', 'environ'].map((name) => readFileSync(`/proc/${daemon}/${name}`, 'utf8')),
    ];
    expect(logs).not.toEqual([]);
    for (const text of visible) expect(text).not.toContain('s3cret');
  });

  test('D-14: a remote server that no longer answers costs a call its time, and the next call works', async () => {
    let isAsleep = false;
    const { url } = await faultServer(({ method, reply }) => {
      if (method === 'server/discover') return reply(DISCOVERED);
      return isAsleep ? undefined : reply(FINE);
    });
    const child = shim(home, '--url', url, '--timeout', '1500');
    child.send(call(1, 'greet'));
    expect(textOf(await child.answer(1))).toBe('fine');
    isAsleep = true;
    child.send(call(2, 'greet'));
    expect((await child.answer(2)).error).toMatchObject({ data: { reason: 'TIMED_OUT', sent: 'maybe' } });
    isAsleep = false;
    child.send(call(3, 'greet'));
    expect(textOf(await child.answer(3))).toBe('fine');
  });

  test('an address that refuses connections is reported to the host, which may try again', async () => {
    const child = shim(home, '--url', 'http://127.0.0.1:9/mcp', '--grace', '0');
    child.send(initialize(1));
    expect((await child.answer(1)).error).toMatchObject({ code: -32603, data: { sent: 'no' } });
    child.end();
    expect(await child.exit(5000)).toEqual({ code: 0, signal: null });
    for (const pid of daemonPids(home)) await gone(pid);
  });
});
