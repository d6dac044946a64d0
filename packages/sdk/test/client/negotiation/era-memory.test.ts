import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { connect, type EraCache, fileEraCache, memoryEraCache } from '../../../src/index.js';
import { failure, openClient, program, settle, textOf, until } from '../../support/client/open-client.js';
import {
  legacyScript,
  methods,
  modernScript,
  type Script,
  type ScriptedConnector,
  scripted,
} from '../../support/client/scripted-server.js';
import { isAlive } from '../../support/process.js';

const DAY = 86_400_000;

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-eras-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }));
  return folder;
}

/** Connects once, waits until the verdict is in the folder, and closes. */
async function remember(server: ScriptedConnector, cache: EraCache, options = {}) {
  const client = await connect(server, { cache, ...options });
  await settle();
  await client.close();
  return client.verdict;
}

const legacyServer: Script = (message, connection) => {
  if (message.method === 'server/discover') connection.error(message, -32601);
  else legacyScript(message, connection);
};

/** Both eras; it answers whatever it is asked first. */
const dualServer: Script = (message, connection) => {
  if (message.method === 'initialize') legacyScript(message, connection);
  else modernScript(message, connection);
};

describe('the era of a server', () => {
  test('is remembered across runs: a legacy server is not probed again (VER-012)', async () => {
    const folder = await temporary();
    const server = scripted(legacyServer, { identity: 'one' });
    expect((await remember(server, fileEraCache({ folder }))).source).toBe('probe');
    await until('a file', isWritten(folder));
    // Another run: another cache object on the same folder.
    const client = await openClient(server, { cache: fileEraCache({ folder }) });
    expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-11-25', source: 'cache' });
    expect(client.verdict.why).not.toBe('');
    expect(methods(server.connections[1])).toEqual(['initialize', 'notifications/initialized']);
    expect(textOf(await client.callTool('a'))).toBe('a');
  });

  test('is remembered across real processes, with no trace of the command in the folder', async () => {
    const folder = await temporary();
    const dist = new URL('../../../dist/index.js', import.meta.url).href;
    const fixture = new URL('../../../../../test/programs/server-silent-on-discover.mjs', import.meta.url)
      .pathname;
    const host = `
      import { connect, fileEraCache, stdio } from ${JSON.stringify(dist)};
      const client = await connect(
        stdio({ command: process.execPath, args: [${JSON.stringify(fixture)}, '--token=s3cret'] }),
        { cache: fileEraCache({ folder: ${JSON.stringify(folder)} }), silenceMs: 100, bootMs: 300 });
      console.log(JSON.stringify(client.verdict));
      await client.close();`;
    const first = await run(host);
    const second = await run(host);
    expect(first).toMatchObject({ era: 'legacy', source: 'probe' });
    expect(second).toMatchObject({ era: 'legacy', source: 'cache' });
    const files = await readdir(folder);
    expect(files).toHaveLength(1);
    expect(await readFile(join(folder, files[0]!), 'utf8')).not.toContain('s3cret');
  });

  test('modern is remembered too, and discover is asked all the same (it has what the client must know)', async () => {
    const cache = memoryEraCache();
    const server = scripted(modernScript, { identity: 'one' });
    await remember(server, cache);
    const client = await openClient(server, { cache });
    expect(client.verdict).toMatchObject({ era: 'modern', source: 'cache' });
    expect(client.server.info).toEqual({ name: 'scripted', version: '1' });
  });

  test('belongs to one configuration: another identity, or none, is probed', async () => {
    const cache = memoryEraCache();
    await remember(scripted(legacyServer, { identity: 'one' }), cache);
    const other = scripted(modernScript, { identity: 'two' });
    expect((await remember(other, cache)).source).toBe('probe');
    const nameless = scripted(modernScript);
    expect((await remember(nameless, cache)).source).toBe('probe');
    expect((await remember(nameless, cache)).source).toBe('probe');
  });

  test.each([
    [{ args: ['x'] }, { args: ['y'] }],
    [{ env: { A: '1' } }, { env: { A: '2' } }],
    [{ cwd: '/tmp' }, { cwd: '/' }],
  ])('on stdio depends on the whole configuration: %j is not %j', async (one, two) => {
    const identities = [one, two, one].map((options) => {
      const args = 'args' in options ? (options.args as string[]) : [];
      return program('server-with-pages.mjs', args, options as object).identity;
    });
    expect(identities[0]).not.toBe(identities[1]);
    expect(identities[2]).toBe(identities[0]);
  });

  test('is not remembered with cache: false', async () => {
    const server = scripted(legacyServer, { identity: 'one' });
    for (const _ of [1, 2]) {
      const client = await openClient(server, { cache: false });
      expect(client.verdict.source).toBe('probe');
      await client.close();
    }
  });

  test('is forgotten after ttlMs, however often it was used meanwhile: a server may have learnt since', async () => {
    const clock = new FakeClock();
    const cache = memoryEraCache({ clock, ttlMs: 7 * DAY });
    let script = legacyServer;
    const server = scripted((message, connection) => script(message, connection), { identity: 'one' });
    await remember(server, cache, { clock });
    script = dualServer;
    const eras: string[] = [];
    for (let day = 3; day <= 12; day += 3) {
      clock.advance(3 * DAY);
      eras.push((await remember(server, cache, { clock })).era);
    }
    expect(eras).toEqual(['legacy', 'legacy', 'modern', 'modern']);
  });
});

describe('what was remembered and does not hold', () => {
  test.each([
    ['refuses initialize', (message, connection) => modernScript(message, connection)],
    [
      'refuses initialize with another code',
      (message, connection) => {
        if (message.method === 'initialize') connection.error(message, -32601);
        else modernScript(message, connection);
      },
    ],
    [
      'hangs up on initialize',
      (message, connection) => {
        if (message.method === 'initialize') connection.close();
        else modernScript(message, connection);
      },
    ],
  ] satisfies [string, Script][])(
    'legacy, but it %s: it is asked once more, and nobody notices (VER-012)',
    async (_how, now) => {
      const cache = memoryEraCache();
      let script: Script = legacyServer;
      const server = scripted((message, connection) => script(message, connection), { identity: 'one' });
      await remember(server, cache);
      script = now;
      const client = await openClient(server, { cache });
      expect(client.verdict).toMatchObject({ era: 'modern', revision: '2026-07-28', source: 'probe' });
      expect(client.verdict.evidence.length).toBeGreaterThan(1);
      expect(textOf(await client.callTool('a'))).toBe('a');
      await settle();
      expect((await cache.get('one'))?.era).toBe('modern');
    },
  );

  test('modern, but it is legacy now: it falls back, and remembers that', async () => {
    const cache = memoryEraCache();
    let script: Script = modernScript;
    const server = scripted((message, connection) => script(message, connection), { identity: 'one' });
    await remember(server, cache);
    script = legacyServer;
    const client = await openClient(server, { cache });
    expect(client.verdict).toMatchObject({ era: 'legacy', source: 'probe' });
    await settle();
    expect((await cache.get('one'))?.era).toBe('legacy');
  });

  test('legacy, but the program is modern now: at most one process at a time', async () => {
    const folder = await temporary();
    const cache = fileEraCache({ folder });
    const server = program('server-with-pages.mjs', ['modern']);
    await cache.set(server.identity!, { era: 'legacy', revision: '2025-11-25', at: Date.now() });
    const client = await openClient(server, { cache });
    expect(client.verdict).toMatchObject({ era: 'modern', source: 'probe' });
    expect(server.mostAlive()).toBe(1);
    expect(server.pids.length).toBeLessThanOrEqual(2);
    expect(await client.listTools()).toHaveLength(25);
  });

  test('legacy, and it silently ignores initialize: the time of connecting is left for the question', async () => {
    const clock = new FakeClock();
    const cache = memoryEraCache({ clock });
    await cache.set('one', { era: 'legacy', revision: '2025-11-25', at: clock.now() });
    const server = scripted(
      (message, connection) => {
        if (message.method !== 'initialize') modernScript(message, connection);
      },
      { identity: 'one' },
    );
    const opening = openClient(server, { cache, clock, connectTimeoutMs: 10_000 });
    await settle();
    clock.advance(10_000);
    const client = await opening;
    expect(client.verdict).toMatchObject({ era: 'modern', source: 'probe' });
  });

  test('a program that cannot be used at all fails as it would without a memory, and leaves no process', async () => {
    const cache = memoryEraCache();
    const server = program('server-rejects-versions.mjs', ['2099-01-01']);
    await cache.set(server.identity!, { era: 'legacy', revision: '2025-11-25', at: Date.now() });
    const error = await failure(openClient(server, { cache }));
    expect(error).toMatchObject({ code: 'NO_COMMON_REVISION' });
    expect(error.message).toContain('2099-01-01');
    expect(server.mostAlive()).toBe(1);
    expect(server.pids.filter(isAlive)).toEqual([]);
  });

  test('files that are broken count as nothing', async () => {
    const folder = await temporary();
    const server = scripted(legacyServer, { identity: 'one' });
    await remember(server, fileEraCache({ folder }));
    await until('a file', isWritten(folder));
    const [name] = await readdir(folder);
    await writeFile(join(folder, name!), '{"format":1,"era":"futur');
    const client = await openClient(server, { cache: fileEraCache({ folder }) });
    expect(client.verdict).toMatchObject({ era: 'legacy', source: 'probe' });
  });
});

test.each(['during', 'after'])(
  'a late DiscoverResult (%s the handshake) is ignored here, and the next run asks again',
  async (when) => {
    const clock = new FakeClock();
    const cache = memoryEraCache({ clock });
    let late: (() => void) | undefined;
    const server = scripted(
      (message, connection) => {
        if (connection.number > 1) dualServer(message, connection);
        else if (message.method === 'server/discover') late = () => modernScript(message, connection);
        else {
          if (message.method === 'initialize' && when === 'during') late!();
          legacyScript(message, connection);
        }
      },
      { identity: 'one' },
    );
    const opening = openClient(server, { cache, clock });
    await settle();
    clock.advance(1000);
    const client = await opening;
    await settle();
    if (when === 'after') late!();
    await settle();
    expect(client.era).toBe('legacy');
    expect(textOf(await client.callTool('a'))).toBe('a');
    expect((await remember(server, cache, { clock })).era).toBe('modern');
  },
);

describe('a mode that was asked for', () => {
  test.each(['legacy', '2025-06-18'])(
    '%s teaches the memory nothing: auto finds the modern era of a dual server afterwards',
    async (mode) => {
      const cache = memoryEraCache();
      const server = scripted(
        (message, connection) => {
          if (message.method === 'initialize') {
            connection.result(message, {
              protocolVersion: message.params.protocolVersion,
              capabilities: {},
              serverInfo: { name: 'x', version: '1' },
            });
          } else modernScript(message, connection);
        },
        { identity: 'one' },
      );
      expect((await remember(server, cache, { mode })).era).toBe('legacy');
      const client = await openClient(server, { cache });
      expect(client.verdict).toMatchObject({ era: 'modern', source: 'probe' });
    },
  );

  test('modern does not believe the memory: it asks', async () => {
    const cache = memoryEraCache();
    await cache.set('one', { era: 'legacy', revision: '2025-11-25', at: Date.now() });
    const client = await openClient(scripted(modernScript, { identity: 'one' }), { cache, mode: 'modern' });
    expect(client.verdict).toMatchObject({ era: 'modern', source: 'mode' });
  });

  test('legacy does not believe the memory: it shakes hands', async () => {
    const cache = memoryEraCache();
    await cache.set('one', { era: 'modern', revision: '2026-07-28', at: Date.now() });
    const server = scripted(dualServer, { identity: 'one' });
    const client = await openClient(server, { cache, mode: 'legacy' });
    expect(client.verdict).toMatchObject({ era: 'legacy', source: 'mode' });
  });
});

test('a cache that fails does not prevent connecting', async () => {
  const broken: EraCache = {
    get: () => Promise.reject(new Error('no disk')),
    set: () => Promise.reject(new Error('no disk')),
    delete: () => Promise.reject(new Error('no disk')),
  };
  const client = await openClient(scripted(modernScript, { identity: 'one' }), { cache: broken });
  expect(client.verdict.source).toBe('probe');
  await settle();
});

/** For `until`: whether a whole entry (and not only its draft) is in the folder. */
function isWritten(folder: string): () => boolean {
  return () => {
    const names = readdirSync(folder);
    return names.length === 1 && names[0]!.endsWith('.json');
  };
}

async function run(program: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['--input-type=module', '-e', program],
      { timeout: 20_000 },
      (error, stdout, stderr) => (error ? reject(new Error(stderr)) : resolve(JSON.parse(stdout))),
    );
  });
}
