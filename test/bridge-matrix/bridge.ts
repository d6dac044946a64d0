import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { Child, type Ended, ISTHMUS } from '../support/child.js';
import type { Address } from './clients/session.js';

/** How clients reach the bridge. */
export const LISTENERS = ['http', 'stdio'] as const;
export type Listener = (typeof LISTENERS)[number];

export interface Bridge {
  readonly address: Address;
  /** Asks it to end; undefined when it belongs to the client that started it. */
  close(): Promise<Ended | undefined>;
}

// What bridges remember about servers must not outlive the run; they inherit it, or are given `BRIDGE_ENV`.
const memory = mkdtempSync(join(tmpdir(), 'isthmus-matrix-'));
export const BRIDGE_ENV = { XDG_CACHE_HOME: memory, XDG_STATE_HOME: memory };
Object.assign(process.env, BRIDGE_ENV);
afterAll(() => rmSync(memory, { recursive: true, force: true }));

/** `isthmus serve` between an upstream and a listener. */
export async function startBridge(
  listener: Listener,
  upstream: Address,
  ...options: string[]
): Promise<Bridge> {
  const behind =
    'url' in upstream ? ['--upstream', upstream.url] : ['--', upstream.command, ...upstream.args];
  if (listener === 'stdio') {
    const args = [ISTHMUS, 'serve', '--listen', 'stdio', ...options, ...behind];
    return { address: { command: process.execPath, args }, close: async () => undefined };
  }
  const child = new Child(ISTHMUS, {
    args: ['serve', '--listen', 'http://127.0.0.1:0/mcp', ...options, ...behind],
  });
  const found = () =>
    /http:\/\/127\.0\.0\.1:[1-9]\d*\/mcp/.exec(child.stderr.replaceAll(upstreamUrl(upstream), ''));
  try {
    await child.until('address', () => found() !== null);
  } catch (error) {
    await child.reap();
    throw error;
  }
  return {
    address: { url: found()![0] },
    async close() {
      child.kill('SIGTERM');
      try {
        return await child.exit(10_000);
      } finally {
        await child.reap();
      }
    },
  };
}

/** It may be told on stderr as well, and is not where the bridge listens. */
function upstreamUrl(upstream: Address): string {
  return 'url' in upstream ? upstream.url : '\0';
}
