import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import { readStat } from '@isthmus/sdk/internal/process/proc-stat.js';
import { tcp, unixSocket } from '@isthmus/sdk/socket';
import { expect } from 'vitest';
import { type Child, ISTHMUS, startChild } from '../../../../test/support/child.js';
import { eventually } from '../../../../test/support/until.js';
import { freeFolder } from './isthmus.js';

export const HTTP = ['--listen', 'http://127.0.0.1:0/mcp'];

/** `isthmus serve`, when it has told all its addresses. */
export async function startServe(
  ...args: string[]
): Promise<{ child: Child; url: string; addresses: string[] }> {
  const child = startChild(ISTHMUS, { args: ['serve', ...args] });
  await child.until('addresses', () => child.stderr.includes('Ctrl-C stops it'));
  const addresses = [...child.stderr.matchAll(/^ {2}(\S+)$/gm)].map(([, address]) => address!);
  return { child, url: addresses[0]!, addresses };
}

/** The demo server where others can connect to it. */
export async function startDemoAt(address: string, ...args: string[]): Promise<string> {
  const child = startChild(ISTHMUS, { args: ['demo', '--listen', address, ...args] });
  await child.until('address', () => child.stderr.includes('Ctrl-C stops it'));
  return /^ {2}(\S+)$/m.exec(child.stderr)![1]!;
}

export function freeSocket(): string {
  return `unix:${freeFolder()}/s`;
}

/** Clients of both eras are served at an address. */
export async function speaksBothEras(address: string): Promise<void> {
  for (const era of ['modern', 'legacy']) {
    await using client = await connect(connectorTo(address), { mode: era, cache: false });
    expect(client.era, `at ${address}`).toBe(era);
    expect(await client.callTool('echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
  }
}

function connectorTo(address: string): Connector {
  if (address.startsWith('http:')) return http(address);
  if (address.startsWith('unix:')) return unixSocket(address.slice('unix:'.length));
  const { hostname: host, port } = new URL(address);
  return tcp({ host, port: Number(port) });
}

/** What a shell makes of a line that was printed to be pasted. */
export function inShell(line: string): Promise<string> {
  const cwd = fileURLToPath(new URL('../../../../', import.meta.url));
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', line], { cwd, timeout: 20_000 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${error.message}\n${stderr}`));
      else resolve(stdout);
    });
  });
}

/** The processes that a process has started and that live. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** A process is gone, or nothing of it is left but its entry. */
export async function gone(pid: number): Promise<void> {
  const look = () => {
    if ((readStat(pid)?.state ?? 'Z') !== 'Z') throw new Error(`${pid} lives`);
  };
  await eventually(look);
}
