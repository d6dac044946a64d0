import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './redis.js';
import { eventually } from './until.js';

/** Where haproxy is not installed, tests with it are skipped. In CI it is required: ISTHMUS_REDIS=required. */
export const hasHaproxy =
  process.env['ISTHMUS_REDIS'] === 'required' || spawnSync('haproxy', ['-v']).error === undefined;

export interface RunningHaproxy {
  readonly origin: string;
  stop(): Promise<void>;
}

/** Starts a real HAProxy without a system. `configuration` gets the port, and gives the whole file. */
export async function startHaproxy(configuration: (port: number) => string): Promise<RunningHaproxy> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-haproxy-'));
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configuration(port));
  const haproxy = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [haproxy.stdout, haproxy.stderr]) {
    stream.on('data', (text) => {
      said += String(text);
    });
  }
  const ended = once(haproxy, 'exit');
  const origin = `http://127.0.0.1:${port}`;
  const stop = async () => {
    haproxy.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  await eventually(async () => {
    const { status } = await fetch(`${origin}/readyz`).catch(() => ({ status: said }));
    if (status !== 200) throw new Error(`haproxy is not up: ${status}`);
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { origin, stop };
}
