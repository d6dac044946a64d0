import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import {
  ask,
  initialize,
  legacy,
  legacyCall,
  openSession,
  send,
} from '../../packages/sdk/test/support/http-server.js';
import { connectV1 } from '../support/official-v1.js';
import { connectV2 } from '../support/official-v2.js';

const PROGRAM = fileURLToPath(new URL('programs/attacked-server.mjs', import.meta.url));
const ISTHMUS = fileURLToPath(new URL('../../bin/isthmus.js', import.meta.url));
const MALLORY = '127.0.0.66';

async function gateway(): Promise<{ url: string; pid: number }> {
  const args = [ISTHMUS, 'serve', '--listen', 'http://127.0.0.1:0/mcp', '--', process.execPath, PROGRAM];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(line)?.[0];
    if (url !== undefined) return { url, pid: child.pid! };
  }
  throw new Error('the gateway ended');
}

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

it('S7, S6, R4: while one client abandons 1,100 sessions, holds slow calls and makes large answers, others go on', async () => {
  const { url, pid } = await gateway();
  const { client: v1 } = await connectV1({ url }, { name: 'bob' });
  const echo = { name: 'echo', arguments: { text: 'hello' } };
  const said = { content: [{ type: 'text', text: 'hello' }] };
  expect(await v1.callTool(echo)).toMatchObject(said);

  const session = await openSession(url, { from: MALLORY });
  for (let at = 0; at < 400; at += 1) {
    send(url, { ...legacy(legacyCall(`h${at}`, 'hold'), session.headers), from: MALLORY });
  }
  for (let at = 0; at < 1100; at += 50) {
    const some = Array.from({ length: 50 }, () => ask(url, { ...legacy(initialize(1)), from: MALLORY }));
    await Promise.all(some);
    expect(await v1.callTool(echo)).toMatchObject(said);
  }
  const other = await openSession(url, { from: MALLORY });
  for (let id = 0; id < 8; id += 1) {
    const big = await other.post(legacyCall(id, 'big', { bytes: 8_000_000 }, { progressToken: id }));
    expect(big.text.length).toBeGreaterThan(8_000_000);
    expect(await v1.callTool(echo)).toMatchObject(said);
  }
  const { client: v2 } = await connectV2({ url }, { name: 'carol', mode: 'auto' });
  for (let at = 0; at < 20; at += 1) expect(await v2.callTool(echo)).toMatchObject(said);
  expect(await v1.callTool(echo)).toMatchObject(said);
  if (process.platform === 'linux') expect(memoryOf(pid)).toBeLessThan(300);
  await Promise.all([v1.close(), v2.close()]);
}, 120_000);
