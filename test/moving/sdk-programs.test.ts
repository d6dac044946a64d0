/** The programs of docs/moving.md are compiled and run: those of the official SDK and ours do the same. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { programs } from './read-page.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
// Inside the package, so that its name and those of the SDKs mean what they mean there.
const folder = `${root}.cache/moving-${process.pid}`;
const SDKS = ['v1', 'v2', 'our'];

beforeAll(async () => {
  mkdirSync(`${folder}/src`, { recursive: true });
  for (const [name, text] of programs()) writeFileSync(`${folder}/src/${name}`, text);
  const compilerOptions = { noEmit: false, declaration: false, rootDir: 'src', outDir: 'out' };
  const config = { extends: '../../tsconfig.json', compilerOptions, include: ['src'] };
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config));
  const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
  await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('there are nine', () => {
  const names = ['server', 'client', 'http'].flatMap((kind) => SDKS.map((sdk) => `${sdk}-${kind}.ts`));
  expect([...programs().keys()]).toEqual(names);
});

it('each client gets the same from each server', async () => {
  const pairs = SDKS.map((client, at) => [client, SDKS[(at + 1) % 3]!]);
  const said = await Promise.all(
    [...pairs, ['our', 'our']].map(async ([client, server]) => {
      const args = [`${folder}/out/${client}-client.js`, `${folder}/out/${server}-server.js`];
      return (await run(process.execPath, args, { timeout: 30_000 })).stdout;
    }),
  );
  expect(new Set(said)).toEqual(new Set(['[{"type":"text","text":"Sunny in Oslo"}]\n']));
});

it('each serves over HTTP, and ours serves both eras', async () => {
  const eras = await Promise.all(
    SDKS.map(async (sdk) => {
      const port = await freePort();
      const env = { ...process.env, PORT: String(port) };
      const child = spawn(process.execPath, [`${folder}/out/${sdk}-http.js`], { env, stdio: 'inherit' });
      onTestFinished(() => reap(child));
      const spoken: string[] = [];
      for (const mode of ['legacy', 'modern']) {
        if (sdk === 'v1' && mode === 'modern') continue;
        const open = () => connect(http(`http://127.0.0.1:${port}/mcp`), { mode, cache: false });
        await using client = await vi.waitFor(open, { timeout: 20_000, interval: 50 });
        expect(await client.callTool('now')).toMatchObject({ content: [{ type: 'text', text: 'noon' }] });
        spoken.push(client.era);
      }
      return spoken;
    }),
  );
  expect(eras).toEqual([['legacy'], ['legacy', 'modern'], ['legacy', 'modern']]);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function reap(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
