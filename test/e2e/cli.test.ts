/** The command line: what it prints where, and with which code it ends (0 done, 1 failed, 2 used wrongly). */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ISTHMUS, startChild, startDemo } from '../support/child.js';
import { dial } from '../support/line-socket.js';
import { call, initialize, line, request, textOf } from '../support/messages.js';

const onWindows = process.platform === 'win32';

describe('isthmus', () => {
  it('--version prints the version of the package', async () => {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    for (const flag of ['--version', '-v']) {
      expect(await run(flag)).toEqual({ code: 0, stdout: version, stderr: '' });
    }
  });

  it('--help names the commands, on stdout', async () => {
    for (const flag of ['--help', '-h']) {
      const { code, stdout, stderr } = await run(flag);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('Usage: isthmus');
      expect(stdout).toContain('demo');
    }
  });

  it('demo --help explains its options and tools, on stdout', async () => {
    const { code, stdout, stderr } = await run('demo', '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const word of ['--listen', '--era', 'unix:PATH', 'tcp://HOST:PORT', 'echo', 'Examples:']) {
      expect(stdout).toContain(word);
    }
  });

  it('without a command shows help and ends with code 2', async () => {
    const { code, stdout, stderr } = await run();
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: isthmus');
  });

  it.each([
    { what: 'an unknown command', args: ['dmeo'], says: 'dmeo' },
    { what: 'an unknown option', args: ['--frobnicate'], says: '--frobnicate' },
    { what: 'an unknown option of demo', args: ['demo', '--frobnicate'], says: '--frobnicate' },
    { what: 'a surplus argument', args: ['demo', 'surplus'], says: 'too many arguments' },
    { what: 'an era that is none', args: ['demo', '--era', 'bronze'], says: 'legacy, modern' },
    { what: 'an era that is missing', args: ['demo', '--era'], says: 'argument missing' },
  ])('$what: code 2, the reason and a hint on stderr, nothing on stdout', async ({ args, says }) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).toContain('--help');
    expect(stderr).not.toContain('    at ');
  });

  it.each([
    { address: 'localhost', says: 'tcp://127.0.0.1:4000' },
    { address: 'tcp://127.0.0.1', says: 'tcp://127.0.0.1:4000' },
    { address: 'https://127.0.0.1:80', says: 'isthmus serves no TLS' },
    { address: '4000', says: 'Did you mean http://127.0.0.1:4000/mcp, or tcp://127.0.0.1:4000?' },
    { address: 'http://', says: 'is not a URL' },
    { address: 'tcp://127.0.0.1:99999', says: '65535' },
    { address: 'unix:', says: 'path is empty' },
  ])('--listen $address: code 2 and what would be right', async ({ address, says }) => {
    const { code, stdout, stderr } = await run('demo', '--listen', address);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('    at ');
  });
});

describe('isthmus demo', () => {
  it('--era modern refuses initialize and names the versions; --era legacy refuses discovery', async () => {
    const modern = startDemo({ args: ['--era', 'modern'] });
    modern.send(initialize(1), call(2, 'echo', { text: 'x' }));
    expect((await modern.answer(1)).error).toMatchObject({
      code: -32022,
      data: { supported: ['2026-07-28'] },
    });
    expect(textOf(await modern.answer(2))).toBe('x');
    const legacy = startDemo({ args: ['-e', 'legacy'] });
    legacy.send(request(1, 'server/discover'), initialize(2));
    expect((await legacy.answer(1)).error?.code).toBe(-32601);
    expect((await legacy.answer(2)).result.protocolVersion).toBe('2025-11-25');
  });

  it('says nothing on stderr over stdio: hosts show that as an error', async () => {
    const demo = startDemo();
    demo.end(line(call(1, 'echo', { text: 'x' })));
    expect(await demo.exit()).toEqual({ code: 0, signal: null });
    expect(demo.stderr).toBe('');
  });

  it.skipIf(onWindows)('--listen may be repeated, and each address is explained on stderr', async () => {
    const path = join(freeDir(), 'demo.sock');
    const demo = startDemo({
      args: ['-l', 'tcp://127.0.0.1:0', '--listen', `unix:${path}`, '-l', 'tcp://127.0.0.1:0'],
    });
    await demo.until('start', () => demo.stderr.includes('Ctrl-C'));
    const ports = [...demo.stderr.matchAll(/^ {2}(tcp:\/\/127\.0\.0\.1:(\d+))$/gm)];
    expect(ports).toHaveLength(2);
    for (const address of [ports[0]![1]!, ports[1]![1]!, `unix:${path}`]) {
      const peer = await dial(address);
      peer.send(call(1, 'echo', { text: address }));
      expect(textOf(await peer.answer(1))).toBe(address);
    }
    // Its stdin is not served, so its end means nothing.
    demo.end();
    const peer = await dial(ports[0]![1]!);
    peer.send(call(1, 'sleep', { ms: 200 }), call('mark', 'echo', { text: 'x' }));
    await peer.answer('mark');
    demo.kill('SIGTERM');
    expect(textOf(await peer.answer(1))).toBe('slept 200 ms');
    expect(await demo.exit()).toEqual({ code: 0, signal: null });
    expect(demo.messages).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });

  it('on a port in use: code 1 and the reason, although its stdin is open', async () => {
    const taken = await takePort();
    const demo = startDemo({ args: ['--listen', taken] });
    expect(await demo.exit()).toEqual({ code: 1, signal: null });
    expect(demo.stderr).toContain(`Cannot listen on ${taken}: another process listens there`);
    expect(demo.stderr).not.toContain('    at ');
  });

  it.each([true, false])(
    'on a port in use beside stdio (stdio first: %s): code 1, nothing served',
    async (first) => {
      const taken = await takePort();
      const places = first ? ['-l', 'stdio', '-l', taken] : ['-l', taken, '-l', 'stdio'];
      const demo = startDemo({ args: places });
      expect(await demo.exit(10_000)).toEqual({ code: 1, signal: null });
      expect(demo.stderr).toContain('another process listens there');
    },
  );

  it('with stdio twice answers nothing twice', async () => {
    const demo = startDemo({ args: ['-l', 'stdio', '-l', 'stdio'] });
    demo.end(line({ jsonrpc: '2.0', id: 1, method: 'ping' }));
    const { code } = await demo.exit();
    expect({ code, answers: demo.messages.length }).toEqual({ code: 2, answers: 0 });
    expect(demo.stderr).toContain('stdio');
  });

  it.skipIf(onWindows)(
    'beside stdio on a socket: both are served, and the end of stdin ends both',
    async () => {
      const path = join(freeDir(), 'both.sock');
      const demo = startDemo({ args: ['-l', 'stdio', '-l', `unix:${path}`] });
      await demo.until('start', () => demo.stderr.includes(path));
      const peer = await dial(`unix:${path}`);
      peer.send(initialize(1));
      demo.send(call(1, 'echo', { text: 'stdio' }));
      expect((await peer.answer(1)).result.protocolVersion).toBe('2025-11-25');
      expect(textOf(await demo.answer(1))).toBe('stdio');
      demo.end();
      expect(await demo.exit()).toEqual({ code: 0, signal: null });
      await peer.end();
      expect(existsSync(path)).toBe(false);
    },
  );
});

/** Runs the command with its input closed. */
async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const lines: string[] = [];
  const child = startChild(ISTHMUS, { args, onLine: (text) => lines.push(text) });
  child.end();
  const { code } = await child.exit();
  return { code, stdout: [...lines, ...child.impure].join('\n'), stderr: child.stderr };
}

async function takePort(): Promise<string> {
  const taken = createServer();
  onTestFinished(() => void taken.close());
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  return `tcp://127.0.0.1:${(taken.address() as AddressInfo).port}`;
}

function freeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'isthmus-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
