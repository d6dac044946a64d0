import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  command,
  daemonPids,
  gone,
  shim,
  useDaemonHome,
} from '../../packages/gateway/test/support/daemon-home.js';
import { childrenOf } from '../../packages/sdk/test/support/host-lifetime.js';
import { ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { type Child, fixture, ISTHMUS, startChild, startDemo } from '../support/child.js';
import { call, textOf } from '../support/messages.js';
import { eventually } from '../support/until.js';

const SLOW = fixture('server-with-slow-tool.mjs');

/** A call is in flight when the signal comes; it is answered, and so is the next one. */
async function survives(child: Child, hangUp: () => void, begun: () => boolean): Promise<void> {
  child.send(call(1, 'slow', { ms: 600 }));
  await child.until('the call to begin', begun);
  hangUp();
  expect(textOf((await child.answer(1)) as never)).toBe('took 600 ms');
  child.send(call(2, 'quick'));
  expect(textOf((await child.answer(2)) as never)).toBe('quick');
}

describe('R5: SIGHUP ends nothing, and calls in flight are answered', () => {
  it('R5: a library server on stdio', async () => {
    const child = startChild(SLOW);
    await survives(
      child,
      () => child.kill('SIGHUP'),
      () => child.stderr.includes('begun'),
    );
  });

  it('R5: isthmus demo', async () => {
    const child = startDemo();
    child.send(call(0, 'echo', { text: 'up' }));
    await child.answer(0);
    child.send(call(1, 'sleep', { ms: 500 }));
    child.kill('SIGHUP');
    expect((await child.answer(1)).error).toBeUndefined();
  });

  it('R5: isthmus serve --listen stdio', async () => {
    const args = ['serve', '--listen', 'stdio', '--', process.execPath, SLOW];
    const child = startChild(ISTHMUS, { args });
    await survives(
      child,
      () => child.kill('SIGHUP'),
      () => child.stderr.includes('begun'),
    );
  });

  it('R5: isthmus serve -- COMMAND at a port', async () => {
    const args = ['serve', '--port', '0', '--json', '--', process.execPath, SLOW];
    const child = startChild(ISTHMUS, { args });
    const [told] = await child.first(1);
    const [url] = (told as unknown as { addresses: [string] }).addresses;
    const answer = ask(url, modernCall(1, 'slow', { ms: 600 }));
    await child.until('the call to begin', () => child.stderr.includes('begun'));
    child.kill('SIGHUP');
    expect((await answer).json.result.content).toEqual([{ type: 'text', text: 'took 600 ms' }]);
    expect((await ask(url, modernCall(2, 'quick', {}))).status).toBe(200);
  });

  describe('R5: isthmus attach', () => {
    const home = useDaemonHome();

    it('R5: to the shim, and to the daemon', async () => {
      const child = shim(home, ...command(home, SLOW));
      child.send(call(0, 'quick'));
      await child.answer(0);
      const hangUp = () => {
        child.kill('SIGHUP');
        for (const pid of daemonPids(home)) process.kill(pid, 'SIGHUP');
      };
      const [daemon] = daemonPids(home);
      // The call has left when an answer to what was sent after it is there.
      child.send(call(3, 'quick'));
      await survives(child, hangUp, () => child.messages.some(({ id }) => id === 3));
      expect(daemonPids(home)).toEqual([daemon]);
    });
  });
});

const hasScript = spawnSync('script', ['--version']).status === 0;

describe.runIf(process.platform === 'linux' && hasScript)('R5: on a terminal', () => {
  const home = useDaemonHome();

  it('R5: SIGHUP of an operator ends nothing; when the terminal is gone, it ends, and its server with it', async () => {
    const work = join(home.work, 'terminal');
    mkdirSync(work);
    const line = `exec ${process.execPath} ${ISTHMUS} serve --port 0 -- ${process.execPath} ${SLOW}`;
    const terminal = spawn('script', ['-qc', line, '/dev/null'], {
      cwd: work,
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    const url = await eventually(() => {
      const [found] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(shown) ?? [];
      expect(found, shown).toBeDefined();
      return found!;
    });
    const [isthmus] = childrenOf(terminal.pid!) as [number];
    const [server] = childrenOf(isthmus) as [number];
    process.kill(isthmus, 'SIGHUP');
    expect((await ask(url, modernCall(1, 'slow', { ms: 100 }))).status).toBe(200);
    // The one that holds the other end of the terminal goes without a word.
    terminal.kill('SIGKILL');
    await gone(isthmus);
    await gone(server);
  });
});
