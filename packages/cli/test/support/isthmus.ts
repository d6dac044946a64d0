import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ISTHMUS, startChild } from '../../../../test/support/child.js';

// The programs under test inherit it: what they remember about servers must not outlive the run.
process.env['XDG_CACHE_HOME'] = mkdtempSync(join(process.env['ISTHMUS_TEST_FOLDER'] ?? tmpdir(), 'cache-'));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program with its input closed. */
export async function isthmus(...args: string[]): Promise<Ran> {
  const lines: string[] = [];
  const child = startChild(ISTHMUS, { args, onLine: (text) => lines.push(text) });
  child.end();
  const { code } = await child.exit();
  const stdout = lines.map((line) => `${line}\n`).join('') + child.impure.join('');
  return { code, stdout, stderr: child.stderr };
}

/** What stands behind `--` for the demo server. */
export function demo(...args: string[]): string[] {
  return ['--', process.execPath, ISTHMUS, 'demo', ...args];
}

/** The same for a program of Node. */
export function node(program: string, ...args: string[]): string[] {
  return ['--', process.execPath, program, ...args];
}

const modules = new URL('../../../../node_modules/', import.meta.url);
export const EVERYTHING = program('@modelcontextprotocol/server-everything/dist/index.js');
export const FILESYSTEM = program('@modelcontextprotocol/server-filesystem/dist/index.js');

function program(path: string): string {
  return new URL(path, modules).pathname;
}

export function freeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
