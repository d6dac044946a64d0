/** The bridge of `--through`: its words, and its life. */
import { connect } from 'node:net';
import { bridgeArguments } from 'isthmus/internal/check/through.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CheckedBridgeOptions, startBridge } from '../../src/through/check-through.js';

const command = ['node', 'my server.js', '--fast'];
const url = 'http://127.0.0.1:8080/mcp';

describe('the words of a bridge', () => {
  it.each([
    [
      'the server is named word by word',
      ['proxy', '{command...}', '-v'],
      'proxy node my server.js --fast -v',
    ],
    [
      'the server is named in one word',
      ['gate', '--stdio', '{command}'],
      "gate --stdio node 'my server.js' --fast",
    ],
    [
      'the server is named within a word',
      ['sh', '-c', 'x {command...}'],
      "sh -c x node 'my server.js' --fast",
    ],
    ['the server is not named', ['isthmus', 'serve'], 'isthmus serve -- node my server.js --fast'],
  ])('when %s', async (_, words, label) => {
    const { target } = await startBridge({ words, server: { command } });
    expect([target.transport, target.label]).toEqual(['command', label]);
  });

  it('have the address of a server that is at one', async () => {
    const named = await startBridge({ words: ['remote', '{url}', '-v'], server: { url } });
    expect(named.target.label).toBe(`remote ${url} -v`);
    const last = await startBridge({ words: ['remote'], server: { url } });
    expect(last.target.label).toBe(`remote ${url}`);
  });

  it('must fit the server', async () => {
    await expect(startBridge({ words: ['x', '{url}'], server: { command } })).rejects.toThrow(
      'The bridge has {url}, but the target is a command',
    );
    await expect(startBridge({ words: ['x', '{command}'], server: { url } })).rejects.toThrow(
      'The bridge has {command}, but the target is a URL',
    );
  });
});

describe('--through', () => {
  it.each([
    ['isthmus serve --port {port}', ['isthmus', 'serve', '--port', '{port}', '--', '{command...}']],
    ["gate --stdio '{command}' -p {port}", ['gate', '--stdio', '{command}', '-p', '{port}']],
    ['proxy {command...} --x="a b"', ['proxy', '{command...}', '--x=a b']],
    // What only a shell understands is left to one, and the server is within its line.
    ['proxy --key $KEY', ['/bin/sh', '-c', 'exec proxy --key $KEY -- {command...}']],
  ])('%s', (text, words) => {
    expect(bridgeArguments(text, true, 'linux')).toEqual(words);
  });

  it('has the address at the end for a server that is at one', () => {
    expect(bridgeArguments('mcp-remote', false, 'linux')).toEqual(['mcp-remote', '{url}']);
  });

  it('needs words', () => {
    expect(() => bridgeArguments(' ', true)).toThrow('--through has no command');
  });
});

describe('a bridge with a port', () => {
  it('is talked to at that port as soon as it listens, and ends when it is closed', async () => {
    const bridge = await start(`
      require('node:net').createServer((socket) => socket.end()).listen(Number(process.argv[1]), '127.0.0.1');
      console.log('x'.repeat(1e6));
    `);
    const { target } = bridge;
    if (target.transport !== 'http') throw new Error('It is talked to over HTTP');
    expect(target.url.pathname).toBe('/mcp');
    expect(await answers(target.url)).toBe(true);
    await bridge.close();
    expect(await answers(target.url)).toBe(false);
  });

  it('may answer at another path', async () => {
    const listen = "require('node:net').createServer().listen(Number(process.argv[1]), '127.0.0.1')";
    const { target } = await start(listen, { path: '/bridge' });
    expect(target.transport === 'http' && target.url.pathname).toBe('/bridge');
  });

  it('that exits before it listens is shown with its last stderr lines', async () => {
    await expect(start("console.error('no such option'); process.exit(3)")).rejects.toMatchObject({
      code: 'CANNOT_START',
      message: expect.stringMatching(/^The bridge ".*" exited with code 3 before it listened$/),
      evidence: ['no such option'],
    });
  });

  it('that never listens is given up, and ended', async () => {
    const started = start('console.error(process.pid); setInterval(() => {}, 1000)', { startMs: 500 });
    const error = await started.then(
      () => undefined,
      (thrown: { message: string; evidence: string[] }) => thrown,
    );
    expect(error?.message).toMatch(/did not listen on port \d+ within 500 ms$/);
    expect(() => process.kill(Number(error?.evidence[0]), 0)).toThrow('ESRCH');
  });

  it('that cannot be started says so', async () => {
    const words = ['/nowhere/bridge', '{port}'];
    await expect(startBridge({ words, server: { command } })).rejects.toThrow(
      /^The bridge "\/nowhere\/bridge .*" could not be started: /,
    );
  });
});

/** A bridge that is this program, and gets the port as its first argument. */
async function start(source: string, options: Partial<CheckedBridgeOptions> = {}) {
  const words = [process.execPath, '-e', source, '{port}'];
  const bridge = await startBridge({ words, server: { command: ['server'] }, ...options });
  onTestFinished(() => bridge.close());
  return bridge;
}

function answers({ port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port) });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
