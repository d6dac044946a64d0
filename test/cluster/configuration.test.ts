import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, runProgram } from '../package/run-program.js';
import { Child, ISTHMUS } from '../support/child.js';
import { hasRedis, type RunningRedis, startRedis } from '../support/redis.js';
import { eventually } from '../support/until.js';

describe.skipIf(!hasRedis)('gateway.cluster of a file (skipped without redis-server)', () => {
  let redis: RunningRedis;
  let folder: string;
  const children: Child[] = [];
  const file = () => join(folder, 'mcp.json');
  const env = () => ({
    ...{ PATH: process.env['PATH'] ?? '', HOME: folder, ISTHMUS_RUNTIME_DIR: join(folder, 'run') },
    ...{ REDIS: redis.url, NO_COLOR: '1' },
  });
  const write = (cluster: object) => {
    const notes = { command: process.execPath, args: [ISTHMUS, 'demo'], isthmus: { stateless: true } };
    writeFileSync(file(), JSON.stringify({ gateway: { cluster }, mcpServers: { notes } }));
  };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
  const settings = { url: '${REDIS}', secretFile: 'secret', listen: 'http://127.0.0.1:0', name: 'of-file' };
  const start = async (...args: readonly string[]) => {
    const child = new Child(ISTHMUS, {
      args: ['serve', '--config', file(), '--no-watch', '--port', '0', '--json', '-q', ...args],
      env: env(),
    });
    children.push(child);
    await child.until('the addresses', () => child.messages.length > 0);
    const [url] = (child.messages[0] as unknown as { addresses: [string] }).addresses;
    return { child, status: async () => (await (await fetch(new URL('/status', url))).json()) as Status };
  };
  const isthmus = (...args: string[]): Promise<Ended> =>
    runProgram(process.execPath, [ISTHMUS, ...args], { cwd: folder, env: env(), limitMs: 30_000 });

  beforeAll(async () => {
    redis = await startRedis();
    folder = mkdtempSync(join(tmpdir(), 'isthmus-cluster-file-'));
    writeFileSync(join(folder, 'secret'), 'a-secret-for-tests-with-enough-characters\n');
    write(settings);
  });
  afterAll(async () => {
    await Promise.all(children.map((child) => child.reap()));
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('makes the processes that read it members, unless an option says otherwise', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    const other = await start('--cluster-name', 'of-option');
    await eventually(async () => {
      expect((await first.status()).cluster).toMatchObject({ name: 'of-file', members: { length: 2 } });
      expect((await second.status()).cluster).toMatchObject({ name: 'of-file', members: { length: 2 } });
    });
    expect((await other.status()).cluster).toMatchObject({ name: 'of-option', members: { length: 1 } });
    other.child.kill('SIGTERM');
    expect(await other.child.exit()).toEqual({ code: 0, signal: null });
  });

  it('cannot change while they run: reload says what needs another start', async () => {
    write({ ...settings, name: 'another', drainDelayMs: 5 });
    const pid = String(children[0]!.pid);
    const { code, stdout } = await isthmus('reload', '--pid', pid);
    const later = 'when the gateway is started again: gateway.cluster.name, gateway.cluster.drainDelayMs';
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${later}\n` });
    await eventually(() => expect(children[0]!.stderr).toContain('gateway.cluster.drainDelayMs'));
    const all = await isthmus('reload', '--all', '--pid', pid);
    expect(all.stdout.match(/done; when it is started again: gateway\.cluster\.name/g)).toHaveLength(2);
  });
});

interface Status {
  readonly cluster: { readonly name: string; readonly members: { readonly length: number } };
}
