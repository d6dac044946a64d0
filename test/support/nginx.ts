import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './redis.js';
import { eventually } from './until.js';

/** Where nginx is not installed, tests with it are skipped. In CI it is required: ISTHMUS_REDIS=required. */
export const hasNginx =
  process.env['ISTHMUS_REDIS'] === 'required' || spawnSync('nginx', ['-v']).error === undefined;

export interface RunningNginx {
  readonly origin: string;
  stop(): Promise<void>;
}

/** Starts a real nginx without a system. `http` and `server` are what its blocks of that name hold besides. */
export async function startNginx(blocks: {
  readonly http?: string;
  readonly server: string;
}): Promise<RunningNginx> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-nginx-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const configuration = `daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  ${blocks.http ?? ''}
  server {
    listen 127.0.0.1:${port};
    location = /up { return 204; }
    ${blocks.server}
  }
}
`;
  writeFileSync(join(folder, 'nginx.conf'), configuration);
  const nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  nginx.stderr.on('data', (text) => {
    errors += String(text);
  });
  const ended = once(nginx, 'exit');
  const origin = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    const { status } = await fetch(`${origin}/up`).catch(() => ({ status: errors }));
    if (status !== 204) throw new Error(`nginx is not up: ${status}`);
  });
  return {
    origin,
    async stop() {
      nginx.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
