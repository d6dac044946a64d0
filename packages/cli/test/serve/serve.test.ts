/** `isthmus serve` as a newcomer meets it: what it prints works when it is pasted, whatever stands behind it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ISTHMUS, startChild } from '../../../../test/support/child.js';
import { call, initialize, legacyCall, request, textOf } from '../../../../test/support/messages.js';
import { until } from '../../../../test/support/until.js';
import { DISCOVERED, FINE, faultServer } from '../../../sdk/test/support/fault-server.js';
import { demo, EVERYTHING, freeFolder, isthmus, node } from '../support/isthmus.js';
import {
  childrenOf,
  freeSocket,
  gone,
  HTTP,
  inShell,
  speaksBothEras,
  startDemoAt,
  startServe,
} from '../support/serve.js';

describe('what it prints', () => {
  it('are an address, lines to paste into hosts, and how to stop it', async () => {
    const { child, url } = await startServe(...HTTP);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*\/mcp$/);
    expect(child.stderr.split('\n')).toEqual([
      'Isthmus serves its own demo server to clients of both eras:',
      '',
      `  ${url}`,
      '',
      'Connect a client:',
      `  Claude Code  claude mcp add --transport http demo ${url}`,
      `  Cursor       {"mcpServers":{"demo":{"url":"${url}"}}}`,
      `  VS Code      {"servers":{"demo":{"type":"http","url":"${url}"}}}`,
      `  try it       node bin/isthmus.js list ${url}`,
      `               node bin/isthmus.js call ${url} echo text=hello`,
      '',
      'Ctrl-C stops it; running calls are finished first.',
      '',
    ]);
    expect(child.messages).toEqual([]);
  });

  it('works when a shell gets it, in front of the demo and of a command', async () => {
    for (const behind of [[], demo()]) {
      const { child } = await startServe(...HTTP, '--verbose', ...behind);
      const [modern, legacy] = child.stderr.match(/curl .*$/gm)!;
      expect(JSON.parse(await inShell(modern!))).toMatchObject({
        id: 1,
        result: { resultType: 'complete', supportedVersions: ['2026-07-28'] },
      });
      expect(JSON.parse(await inShell(legacy!))).toMatchObject({
        id: 1,
        result: { protocolVersion: '2025-11-25', serverInfo: { name: 'isthmus-demo' } },
      });
      for (const line of child.stderr.match(/node bin\/isthmus\.js .*$/gm)!) {
        expect(await inShell(line)).toMatch(line.includes(' call ') ? /^hello\n$/ : /^echo .*text:string/);
      }
    }
  });

  it('says what stands behind it', async () => {
    const { child } = await startServe(...HTTP, ...demo());
    const command = `${process.execPath} ${ISTHMUS} demo`;
    expect(child.stderr).toContain(`Isthmus serves ${command} to clients of both eras:`);
    await child.until('far side', () => child.stderr.includes('Behind it:'));
    expect(child.stderr).toContain(
      `Behind it: ${command} (isthmus-demo 1.0.0), a modern server (2026-07-28).\n`,
    );
  });

  it('is nothing with --quiet, and the stderr of the command all the same', async () => {
    const socket = freeSocket();
    const args = ['serve', '--quiet', '--listen', socket, ...node(EVERYTHING)];
    const child = startChild(ISTHMUS, { args });
    await child.until('stderr of the command', () => child.stderr.includes('\n'));
    expect(await isthmus('call', socket, 'echo', 'message=hi')).toMatchObject({
      code: 0,
      stdout: 'Echo: hi\n',
    });
    expect(child.stderr).toMatch(/^Starting default \(STDIO\) server\.\.\.\n/);
    expect(child.stderr).not.toContain('isthmus');
  });

  it('is served at the address that --help names, where no other is given', async () => {
    const { stdout } = await isthmus('serve', '--help');
    expect(stdout.replace(/\s+/g, ' ')).toContain('(default: http://127.0.0.1:8080/mcp)');
    // Somebody else may have it.
    const child = startChild(ISTHMUS, { args: ['serve'] });
    await child.until('address', () => /http:\/\/127\.0\.0\.1:8080/.test(child.stderr));
  });
});

describe('behind it may stand', () => {
  it.each<[string, string, string[]]>([
    ['an HTTP server', 'http://127.0.0.1:0/mcp', []],
    ['a legacy HTTP server', 'http://127.0.0.1:0/mcp', ['--era', 'legacy']],
    ['a modern TCP server', 'tcp://127.0.0.1:0', ['--era', 'modern']],
    ['a legacy TCP server', 'tcp://127.0.0.1:0', ['--era', 'legacy']],
  ])('%s, for clients of both eras', async (_what, address, args) => {
    const { url } = await startServe(...HTTP, '--upstream', await startDemoAt(address, ...args));
    await speaksBothEras(url);
  });

  it('a server on a Unix socket', async () => {
    const { url } = await startServe(...HTTP, '--upstream', await startDemoAt(freeSocket()));
    await speaksBothEras(url);
  });

  it('a server that is told what its command needs, and no more', async () => {
    process.env['SERVE_TEST_SECRET'] = 'not to be passed on';
    const folder = freeFolder();
    const { url } = await startServe(...HTTP, '--env', 'COLOUR=blue', '--cwd', folder, ...node(EVERYTHING));
    const { stdout } = await isthmus('call', url, 'get-env');
    expect(stdout).toContain('"COLOUR": "blue"');
    expect(stdout).not.toContain('SERVE_TEST_SECRET');
  });

  it('a server that wants to know who asks, and no value is ever shown', async () => {
    const far = await faultServer(({ headers, method, reply, say }) => {
      if (headers.authorization !== 'Bearer s3cret') return say(401, 'no', { 'www-authenticate': 'Bearer' });
      return reply(method === 'server/discover' ? DISCOVERED : FINE);
    });
    const { child, url } = await startServe(
      ...[...HTTP, '--upstream', far.url, '--header', 'Authorization: Bearer s3cret'],
    );
    expect(await isthmus('call', url, 'greet', '--args', '{}')).toMatchObject({ code: 0, stdout: 'fine\n' });
    expect(child.stderr).not.toContain('s3cret');
  });

  it('a server that is spoken to in the era that --era names', async () => {
    const { child, url } = await startServe(...HTTP, '--era', 'legacy', ...demo());
    await child.until('far side', () => child.stderr.includes('Behind it:'));
    expect(child.stderr).toContain('a legacy server (2025-11-25).');
    await speaksBothEras(url);
  });
});

describe('it listens', () => {
  it('at several addresses at once', async () => {
    const listen = [...HTTP, '--listen', 'tcp://127.0.0.1:0', '--listen', freeSocket()];
    const { addresses } = await startServe(...listen, ...demo());
    expect(addresses).toEqual([
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
      expect.stringMatching(/^tcp:\/\/127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^unix:\/.*\/s$/),
    ]);
    await Promise.all(addresses.map(speaksBothEras));
  });

  it.each<[string, object[], object]>([
    [
      'legacy',
      [initialize(1), { jsonrpc: '2.0', method: 'notifications/initialized' }],
      legacyCall(2, 'echo', { text: 'hi' }),
    ],
    ['modern', [request(1, 'server/discover')], call(2, 'echo', { text: 'hi' })],
  ])('on stdio, for a %s host that can only launch, with a server far away', async (_era, opening, echo) => {
    const far = await startDemoAt('http://127.0.0.1:0/mcp');
    const child = startChild(ISTHMUS, { args: ['serve', '--listen', 'stdio', '--upstream', far] });
    child.send(...opening);
    expect(await child.answer(1)).toMatchObject({ result: { capabilities: { tools: {} } } });
    child.send(echo);
    expect(textOf(await child.answer(2))).toBe('hi');
    child.end();
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    expect(child.impure).toEqual([]);
    expect(child.stderr).toBe(
      `isthmus: serving ${far} (isthmus-demo 1.0.0), a modern server (2026-07-28), on stdio\n`,
    );
  });
});

describe('a command behind stdio', () => {
  /** The command of the demo, which writes its process number to a file when it starts. */
  function recordedDemo() {
    const folder = freeFolder();
    const starts = join(folder, 'starts');
    const hook = join(folder, 'hook.cjs');
    const text = `require('node:fs').appendFileSync(${JSON.stringify(starts)}, process.pid + '\\n')`;
    writeFileSync(hook, text);
    const [, command, ...args] = demo();
    return {
      args: ['--', command!, '--require', hook, ...args],
      starts: () =>
        existsSync(starts) ? readFileSync(starts, 'utf8').split('\n').slice(0, -1).map(Number) : [],
    };
  }

  it('is started before the first request, and once', async () => {
    const { args, starts } = recordedDemo();
    const child = startChild(ISTHMUS, { args: ['serve', '--listen', 'stdio', ...args] });
    const [pid] = await until('it has started', () => starts().length > 0 && starts());
    child.send(request(1, 'server/discover'), call(2, 'echo', { text: 'hi' }));
    expect(textOf(await child.answer(2))).toBe('hi');
    expect(starts()).toEqual([pid]);
    child.end();
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    await gone(pid!);
  });

  it.each(['the end of the input', 'SIGTERM'])('is ended by %s when there was no request', async (how) => {
    const { args, starts } = recordedDemo();
    const child = startChild(ISTHMUS, { args: ['serve', '--listen', 'stdio', ...args] });
    const [pid] = await until('it has started', () => starts().length > 0 && starts());
    if (how === 'SIGTERM') child.kill('SIGTERM');
    else child.end();
    await child.exit();
    await gone(pid!);
  });

  it('is not started when the command line is wrong', async () => {
    const { args, starts } = recordedDemo();
    const wrong = startChild(ISTHMUS, { args: ['serve', '--listen', 'stdio', '--timeout', 'x', ...args] });
    expect(await wrong.exit()).toEqual({ code: 2, signal: null });
    expect(starts()).toEqual([]);
  });
});

describe('it ends', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('with 0 on %s, and so does the command', async (signal) => {
    const { child, url } = await startServe(...HTTP, ...demo());
    await isthmus('list', url);
    const [server] = childrenOf(child.pid);
    child.kill(signal);
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    await gone(server!);
  });

  it('when a call has been finished that was running', async () => {
    const { child, url } = await startServe(...HTTP, ...demo());
    const slow = startChild(ISTHMUS, {
      args: ['call', url, 'sleep', 'ms=1500', '--progress'],
      onLine: (text) => slow.impure.push(text),
    });
    await slow.until('progress', () => slow.stderr.includes('progress 100/1500'));
    child.kill('SIGINT');
    expect(await slow.exit()).toEqual({ code: 0, signal: null });
    expect(slow.impure).toEqual(['slept 1500 ms']);
    expect(await child.exit()).toEqual({ code: 0, signal: null });
  });
});
