// redis-server, nginx and replicas of `isthmus serve` as child processes on 127.0.0.1, for programs that are not tests.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inRoot } from '../setup/paths.js';

const isthmus = inRoot('bin/isthmus.js');
const startMs = 30_000;
const secret = 'a-secret-for-this-machine-with-enough-characters';

/** The programs of a cluster that are not installed here. */
export function missingPrograms() {
  return ['redis-server', 'nginx'].filter(
    (name) => spawnSync(name, ['-v'], { stdio: 'ignore' }).error !== undefined,
  );
}

/** A free port of 127.0.0.1. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A Redis that keeps nothing on disk. `stop` ends it. */
export async function startRedis(given) {
  const port = given ?? (await freePort());
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-redis-'));
  const child = start('redis-server', [...args, '--dir', folder], {});
  await answersAt(port, child);
  return { port, url: `redis://127.0.0.1:${port}`, stop: () => end(child, folder), pid: child.process.pid };
}

/** nginx that sends each request to the next of these hosts, on a connection of its own. */
export async function startNginx(hosts) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-nginx-'));
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const text = `daemon off; master_process off; pid ${folder}/pid; events { worker_connections 8192; }
http {
  access_log off;
  ${kept.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  upstream isthmus { ${hosts.map((host) => `server ${host} max_fails=1 fail_timeout=1s;`).join(' ')} }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://isthmus; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_buffering off; proxy_read_timeout 1h; proxy_connect_timeout 1s; client_max_body_size 4m;
    }
  }
}
`;
  writeFileSync(join(folder, 'nginx.conf'), text);
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  const child = start('nginx', args, {});
  await answersAt(port, child);
  return { origin: `http://127.0.0.1:${port}`, pid: child.process.pid, stop: () => end(child, folder) };
}

/** One `isthmus serve` of a cluster, or alone without a Redis. `args`: what is served; default the demo. */
export async function startReplica({ redisUrl, port = 0, args = [] }) {
  const own = ['serve', '--port', String(port), '--json', '-q', '--no-control'];
  const shared = redisUrl ? ['--cluster-listen', 'http://127.0.0.1:0', '--drain-delay', '300'] : [];
  // What was remembered about servers in earlier runs must not decide anything.
  const cache = mkdtempSync(join(tmpdir(), 'isthmus-cache-'));
  const env = {
    ...process.env,
    XDG_CACHE_HOME: cache,
    ...(redisUrl && { ISTHMUS_CLUSTER_URL: redisUrl, ISTHMUS_CLUSTER_SECRET: secret }),
  };
  const child = start(process.execPath, [isthmus, ...own, ...shared, ...args], { env });
  await until(child, 'its address', () => child.output.includes('\n'));
  const url = JSON.parse(child.output.split('\n')[0]).addresses[0];
  const { origin, host } = new URL(url);
  return {
    ...{ url, origin, host, pid: child.process.pid },
    exited: child.exited,
    kill: (signal) => child.process.kill(signal),
    status: async () => (await fetch(`${origin}/status`)).json(),
    stop: () => end(child, cache),
  };
}

function start(program, args, { env = process.env }) {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const started = { name: program, process: child, output: '', errors: '', exited: once(child, 'exit') };
  child.on('error', (error) => {
    started.errors += error.message;
  });
  child.stdout.on('data', (text) => {
    if (started.output.length < 10_000) started.output += text;
  });
  child.stderr.on('data', (text) => {
    started.errors = `${started.errors}${text}`.slice(-10_000);
  });
  living.add(child);
  child.once('exit', () => living.delete(child));
  return started;
}

async function until(child, what, isDone) {
  const limit = Date.now() + startMs;
  while (!(await isDone())) {
    const { exitCode, signalCode } = child.process;
    if (Date.now() > limit || exitCode !== null || signalCode !== null) {
      throw new Error(`${child.name} did not give ${what}: ${child.errors.trim() || 'it said nothing'}`);
    }
    await sleep(20);
  }
}

function answersAt(port, child) {
  return until(child, 'a connection', async () => {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  });
}

async function end({ process: child, exited }, folder) {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await exited;
  }
  rmSync(folder, { recursive: true, force: true });
}

const living = new Set();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});
