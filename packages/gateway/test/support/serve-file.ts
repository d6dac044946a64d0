import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, fixture, ISTHMUS, startChild } from '../../../../test/support/child.js';
import { ask, modern } from '../../../sdk/test/support/http-server.js';
import type { GatewayStatus } from '../../src/server-state.js';
import { freshFolder } from './open-gateway.js';

export interface ServedFile {
  readonly child: Child;
  /** What it keeps is in `run`, `state` and `cache` below it. */
  readonly folder: string;
  readonly origin: string;
  /** Another text in the file, as a careful editor writes it. */
  write(text: string | object): void;
  status(): Promise<GatewayStatus>;
  get(path: string): Promise<number>;
  /** The tools at a path, in order. */
  tools(path: string): Promise<string[]>;
}

/** `isthmus serve --config FILE`, as a process of its own that remembers nothing. */
export async function serveFile(config: object, ...args: readonly string[]): Promise<ServedFile> {
  const folder = freshFolder();
  const file = join(folder, 'servers.json');
  const write = (text: string | object) => {
    const next = join(folder, 'next.json');
    writeFileSync(next, typeof text === 'string' ? text : JSON.stringify(text, undefined, 2));
    renameSync(next, file);
  };
  write(config);
  for (const name of ['cache', 'state', 'run']) mkdirSync(join(folder, name), { mode: 0o700 });
  const before = { ...process.env };
  Object.assign(process.env, {
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_RUNTIME_DIR: join(folder, 'run'),
  });
  const child = startChild(ISTHMUS, {
    args: ['serve', '--config', file, '--port', '0', '--json', '-q', ...args],
  });
  // What others start later is none of this one's business.
  for (const name of ['XDG_CACHE_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR']) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  const [told] = await child.first(1);
  const { addresses } = told as unknown as { addresses: [string] };
  const { origin } = new URL(addresses[0]);
  return {
    child,
    folder,
    origin,
    write,
    status: async () => JSON.parse((await ask(`${origin}/status`, { method: 'GET' })).text),
    get: async (path) => (await ask(`${origin}${path}`, { method: 'GET' })).status,
    async tools(path) {
      const { json } = await ask(`${origin}${path}`, modern(1, 'tools/list'));
      return (json.result.tools as { name: string }[]).map(({ name }) => name);
    },
  };
}

/** A server for a file: quick to start, with the one tool `echo`. */
export function echoEntry(env: Record<string, string> = {}): object {
  return { command: process.execPath, args: [fixture('server-slow-boot.mjs'), '0', 'dual'], env };
}
