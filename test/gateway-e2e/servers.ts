import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { EVERYTHING, FILESYSTEM } from '../../packages/cli/test/support/isthmus.js';
import { type Entry, type ServedFile, serveFile } from '../solved/support/serve-file.js';
import { fixture } from '../support/child.js';

/** One gateway for all tests of a file: real servers, one that cannot be started, and one that ends at once. */
export interface House {
  readonly gateway: ServedFile;
  /** What server-filesystem may read. */
  readonly folder: string;
  readonly servers: Readonly<Record<string, Entry>>;
}

export function useHouse(): () => House {
  let house: House;
  let folder = '';
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'isthmus-house-')));
    writeFileSync(join(folder, 'hello.txt'), 'hello from a file');
    const servers = serversWith(folder);
    house = { gateway: await serveFile(servers), folder, servers };
  });
  afterAll(async () => {
    await house?.gateway.reap();
    rmSync(folder, { recursive: true, force: true });
  });
  return () => house;
}

/** Some do not end with their input, and are waited for no longer than need be. */
const shutdown = { closeMs: 100, termMs: 2000, killMs: 2000 };
const node = (path: string, ...args: string[]): Entry => ({
  command: process.execPath,
  args: [path, ...args],
  shutdown,
});

function serversWith(folder: string): Record<string, Entry> {
  return {
    broken: { command: './no-such-program', needed: false },
    everything: node(EVERYTHING),
    // It is given up at once, and the other is not made to wait.
    crashing: {
      ...node(fixture('child-that-dies-at-start.mjs')),
      ...{ needed: false, restart: { attempts: 2, firstDelayMs: 10 } },
    },
    files: node(FILESYSTEM, folder),
    fragile: {
      ...node(fixture('server-dies-mid-call.mjs')),
      restart: { attempts: 50, firstDelayMs: 10, maxDelayMs: 10 },
    },
  };
}
