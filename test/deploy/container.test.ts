import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, ISTHMUS } from '../support/child.js';
import { eventually } from '../support/until.js';

const file = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');
const works = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

/** What a container is to a process: a world in which it is number 1, with the entry point of the Dockerfile. */
const CONTAINER = ['--fork', '--pid', '--mount-proc', '--kill-child'];
const hasContainers = works('unshare', ...CONTAINER, 'true') && works('tini', '--version');

describe.skipIf(!hasContainers)('as the main process of a container', () => {
  it('is served by tini as PID 1: orphans of servers leave no zombies, and SIGTERM ends all in good order', async () => {
    const { url, ended, stop } = await startInContainer(['tini', '--'], fixture('server-leaves-orphans.mjs'));
    await using client = await connect(http(url), { cache: false });
    for (let left = 0; left < 5; left += 1) await client.callTool('orphan', {});
    await eventually(async () => {
      const states = textOf(await client.callTool('processes', {})).split(' ');
      // tini, isthmus, its death watch and the server; nothing that is dead or was left behind.
      expect(states.filter((each) => each.endsWith(':Z'))).toEqual([]);
      expect(states.length).toBeLessThanOrEqual(4);
    });
    stop();
    expect(await ended).toEqual([0, null]);
  });
});

describe('the files for those who run it', () => {
  it('the image is started by tini, as a user without rights, and says how it is', () => {
    const dockerfile = file('Dockerfile');
    expect(dockerfile).toContain('ENTRYPOINT ["tini", "--", "isthmus"]');
    expect(dockerfile).toContain('USER node');
    expect(dockerfile).toContain('/readyz');
  });

  it.skipIf(!works('systemd-analyze', '--version'))('systemd finds nothing wrong with the unit', () => {
    const path = new URL('../../deploy/isthmus.service', import.meta.url).pathname;
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  });
});

async function startInContainer(
  entry: string[],
  program: string,
): Promise<{ url: string; ended: Promise<unknown[]>; stop: () => void }> {
  const serve = [process.execPath, ISTHMUS, 'serve', '--port', '0', '--json', '-q', '--no-control'];
  const command = [...CONTAINER, ...entry, ...serve, '--', process.execPath, program];
  const outer = spawn('unshare', command, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    outer.kill('SIGKILL');
  });
  const [line] = (await once(createInterface({ input: outer.stdout! }), 'line')) as [string];
  const { addresses } = JSON.parse(line) as { addresses: string[] };
  // Signals are for the first process inside, as a container engine sends them.
  const inside = Number(execFileSync('pgrep', ['-P', String(outer.pid)], { encoding: 'utf8' }));
  return { url: addresses[0]!, ended: once(outer, 'exit'), stop: () => process.kill(inside, 'SIGTERM') };
}

function textOf(result: unknown): string {
  return (result as { content: { text: string }[] }).content[0]!.text;
}
