import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerDefinition } from '@isthmus/sdk/internal/host/definition.js';
import { onTestFinished } from 'vitest';
import { openHost, QUICK, type Watched } from '../../../packages/sdk/test/support/host-lifetime.js';
import { Child } from '../../support/child.js';
import type { Era } from '../near/near.js';

export function program(name: string): string {
  return fileURLToPath(new URL(`../programs/${name}`, import.meta.url));
}

/** What the far side did, as it tells itself. */
export interface Diary {
  readonly path: string;
  lines(): string[];
}

export function diary(): Diary {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-diary-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'diary');
  writeFileSync(path, '');
  return { path, lines: () => readFileSync(path, 'utf8').split('\n').slice(0, -1) };
}

/** A stdio server of an official SDK, kept by a host: `host.upstream('far')`. */
export interface KeptFar extends Watched {
  readonly diary: Diary;
}

/** When the test ends the host is closed, and no process may be left. */
export function keepFar(
  era: Era,
  more: Partial<ServerDefinition> = {},
  env: Readonly<Record<string, string>> = {},
): KeptFar {
  const written = diary();
  const far: ServerDefinition = {
    command: process.execPath,
    args: [program(`${era}-stdio.mjs`)],
    env: { DIARY: written.path, ...env },
    mode: era,
    shutdown: QUICK,
    restart: { firstDelayMs: 1, maxDelayMs: 20, attempts: 100 },
    ...more,
  };
  return { ...openHost({ servers: { far } }), diary: written };
}

/** An HTTP server of an official SDK in a process of its own. */
export interface HttpFar {
  readonly url: string;
  readonly pid: number;
  /** kill -9, and the end of the process. */
  kill(): Promise<void>;
}

/** On a free port, or again on the port of an earlier one. */
export async function startHttpFar(era: Era, written?: Diary, earlier?: HttpFar): Promise<HttpFar> {
  const port = earlier ? [new URL(earlier.url).port] : [];
  if (written) process.env['DIARY'] = written.path;
  const child = new Child(program(`${era}-http.mjs`), {
    args: port,
    onLine: (line) => {
      url = line;
    },
  });
  delete process.env['DIARY'];
  let url: string | undefined;
  onTestFinished(() => child.reap());
  await child.until('address', () => url !== undefined);
  return {
    url: url!,
    pid: child.pid,
    async kill() {
      child.kill('SIGKILL');
      await child.ended;
    },
  };
}
