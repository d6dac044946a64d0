import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, runProgram } from '../package/run-program.js';
import { Child, ISTHMUS } from '../support/child.js';
import { freePort, hasRedis, type RunningRedis, startRedis } from '../support/redis.js';
import { eventually } from '../support/until.js';

const PAGE = readFileSync(new URL('../../docs/cluster.md', import.meta.url), 'utf8');
const [makeSecret = '', startLines = ''] = [...PAGE.matchAll(/```sh\n([^`]*)```/g)].map(([, lines]) => lines);

describe.skipIf(!hasRedis)('docs/cluster.md, line by line (skipped without redis-server)', () => {
  let redis: RunningRedis;
  let folder: string;
  const children: Child[] = [];
  const env = () => ({
    ...{ PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, HOME: folder, NO_COLOR: '1' },
    ISTHMUS_RUNTIME_DIR: join(folder, 'run'),
  });
  const sh = (script: string): Promise<Ended> =>
    runProgram('sh', ['-c', script], { cwd: folder, env: env(), limitMs: 30_000 });
  /** The names of this machine in the place of those of the page. */
  const here = (lines: string, port: number) =>
    lines
      .replace('redis://redis:6379', redis.url)
      .replace('--port 8080', `--port ${port}`)
      .replace('http://0.0.0.0:7946', 'http://127.0.0.1:0');

  beforeAll(async () => {
    redis = await startRedis();
    folder = mkdtempSync(join(tmpdir(), 'isthmus-page-'));
    mkdirSync(join(folder, 'bin'));
    const program = join(folder, 'bin/isthmus');
    writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${ISTHMUS} "$@"\n`);
    chmodSync(program, 0o755);
    const notes = { command: process.execPath, args: [ISTHMUS, 'demo'] };
    writeFileSync(join(folder, 'servers.json'), JSON.stringify({ mcpServers: { notes } }));
    writeFileSync(join(folder, 'tokens'), `ada: ${'t'.repeat(40)}\n`, { mode: 0o600 });
  });
  afterAll(async () => {
    await Promise.all(children.map((child) => child.reap()));
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('its lines start processes that serve as one, by the name of the balancer', async () => {
    expect((await sh(makeSecret)).code).toBe(0);
    const ports = [await freePort(), await freePort()];
    for (const port of ports) {
      const starter = join(folder, `start-${port}.mjs`);
      const script = JSON.stringify(here(startLines, port).replace('isthmus serve', 'exec isthmus serve'));
      writeFileSync(
        starter,
        `import { spawn } from 'node:child_process';
const child = spawn('sh', ['-c', ${script}], { cwd: ${JSON.stringify(folder)}, stdio: ['ignore', 'ignore', 'inherit'] });
console.log(JSON.stringify({ pid: child.pid }));
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('close', (code) => process.exit(code ?? 1));`,
      );
      children.push(new Child(starter, { env: env() }));
    }
    const [first] = await children[0]!.first(1);
    const { pid } = first as unknown as { pid: number };
    await eventually(async () => {
      const { stdout } = await sh(`isthmus status --all --pid ${pid}`);
      expect(stdout).toContain('Everything is ok: 2 processes.');
    });
    const { stdout } = await sh(
      `curl -s -w '%{http_code}' -H 'Host: mcp.example.com' -H 'Authorization: Bearer ${'t'.repeat(40)}' -H 'accept: application/json, text/event-stream' -H 'content-type: application/json' -d '${INITIALIZE}' http://127.0.0.1:${ports[1]}/mcp`,
    );
    expect(stdout).toMatch(/"protocolVersion":"2025-11-25".*200$/);
  }, 60_000);

  it.each([
    ['--cluster-secret-file secret', '', 2, 'A cluster needs a secret that all processes share'],
    ['redis://', 'http://', 2, 'The URL of the cluster is not valid'],
    ['redis://127.0.0.1:', 'redis://nobody:wrong@127.0.0.1:', 3, 'cannot be used: WRONGPASS'],
    [/redis:\/\/\S+/, 'redis://127.0.0.1:1', 3, 'Redis at 127.0.0.1:1 cannot be used: connect ECONNREFUSED'],
  ])(
    'says what is wrong when %s becomes %j',
    async (right, wrong, code, message) => {
      const ended = await sh(here(startLines, await freePort()).replace(right, wrong));
      expect({ code: ended.code, stderr: ended.stderr }).toEqual({
        code,
        stderr: expect.stringContaining(message),
      });
    },
    40_000,
  );
});

const INITIALIZE = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'curl', version: '1' },
  },
});
