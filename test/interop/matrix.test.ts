import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  command,
  failure,
  openClient,
  textOf,
  type WatchedConnector,
} from '../../packages/sdk/test/support/client/open-client.js';
import { isAlive } from '../../packages/sdk/test/support/process.js';
import { ensureBuilt } from '../../scripts/setup.js';
import { type ClientV1, connectV1 } from '../support/official-v1.js';
import { type ClientV2, connectV2 } from '../support/official-v2.js';

/**
 * The compatibility matrix of the specification (wire sheet §11) over stdio, cell by cell: our client with
 * the official servers and ours, and the official clients with ours.
 */
beforeAll(() => ensureBuilt());

const peer = (name: string) => fileURLToPath(new URL(`peers/${name}`, import.meta.url));

const SERVERS = {
  modern: [
    ['the official v2 server, modern only', 'matrix-official-v2.mjs', 'modern'],
    ['our server, modern only', 'matrix-isthmus.mjs', 'modern'],
  ],
  dual: [
    ['the official v2 server, both eras', 'matrix-official-v2.mjs', 'dual'],
    ['our server, both eras', 'matrix-isthmus.mjs', 'dual'],
  ],
  legacy: [
    ['the official v1 server', 'matrix-official-v1.mjs', ''],
    ['our server, legacy only', 'matrix-isthmus.mjs', 'legacy'],
  ],
} as const;

function start(file: string, which: string): WatchedConnector {
  return command({ command: process.execPath, args: [peer(file), which] });
}

async function works(server: WatchedConnector, mode: string, era: 'legacy' | 'modern'): Promise<void> {
  const client = await openClient(server, { mode });
  expect(client.verdict).toMatchObject({
    era,
    revision: era === 'modern' ? '2026-07-28' : '2025-11-25',
    why: expect.stringMatching(/./),
  });
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['echo']);
  expect(textOf(await client.callTool('echo', { text: 'héllo' }))).toBe('héllo');
  expect(client.server.info?.name).toMatch(/^(official|isthmus)-/);
  await client.close();
  // One live process, ever.
  expect(server.pids).toHaveLength(1);
  expect(server.pids.filter(isAlive)).toEqual([]);
}

describe('modern client, modern server: works', () => {
  for (const [title, file, which] of [...SERVERS.modern, ...SERVERS.dual]) {
    test.each(['modern', '2026-07-28'])(`${title}, mode %s`, (mode) =>
      works(start(file, which), mode, 'modern'),
    );
  }
});

describe('modern client, legacy server: fails before anything is executed, and says what to do (VER-013)', () => {
  for (const [title, file, which] of SERVERS.legacy) {
    test.each(['modern', '2026-07-28'])(`${title}, mode %s`, async (mode) => {
      const server = start(file, which);
      const error = await failure(openClient(server, { mode }));
      expect(error).toMatchObject({ name: 'IsthmusError', code: 'NO_COMMON_REVISION', sent: 'no' });
      expect(error.message).toContain(file);
      expect(error.message).toContain('legacy');
      expect(error.message).toContain('mode "auto"');
      expect(server.pids).toHaveLength(1);
      expect(server.pids.filter(isAlive)).toEqual([]);
    });
  }
});

describe('dual client, modern server: works and stays modern (VER-010)', () => {
  for (const [title, file, which] of [...SERVERS.modern, ...SERVERS.dual]) {
    test(title, () => works(start(file, which), 'auto', 'modern'));
  }
});

describe('dual client, legacy server: works through the fallback (VER-015)', () => {
  for (const [title, file, which] of SERVERS.legacy) {
    test(title, () => works(start(file, which), 'auto', 'legacy'));
  }
});

describe('legacy client, modern server: ours falls forward, a pinned one is told the versions (VER-009)', () => {
  for (const [title, file, which] of SERVERS.modern) {
    test(`${title}, mode legacy`, () => works(start(file, which), 'legacy', 'modern'));

    test(`${title}, pinned to 2025-06-18`, async () => {
      const server = start(file, which);
      const error = await failure(openClient(server, { mode: '2025-06-18' }));
      expect(error).toMatchObject({ code: 'NO_COMMON_REVISION' });
      expect(error.message).toContain('2026-07-28');
      expect(error.message).toContain('2025-06-18');
      expect(server.pids.filter(isAlive)).toEqual([]);
    });
  }

  test('the official v1 client is told by our server', async () => {
    const error = await failure(officialV1('modern'));
    expect(error).toMatchObject({ code: -32022, message: expect.stringContaining('2026-07-28') });
  });

  test('the official v2 client in mode legacy is told by our server', async () => {
    const error = await failure(officialV2('modern', 'legacy'));
    expect(error).toMatchObject({ code: -32022, message: expect.stringContaining('2026-07-28') });
  });
});

describe('legacy client, dual server: works with legacy semantics (VER-006)', () => {
  for (const [title, file, which] of SERVERS.dual) {
    test(`${title}, mode legacy`, () => works(start(file, which), 'legacy', 'legacy'));

    test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
      `${title}, pinned to %s`,
      async (mode) => {
        const client = await openClient(start(file, which), { mode });
        expect(client.verdict).toMatchObject({ era: 'legacy', revision: mode, source: 'mode' });
        expect(textOf(await client.callTool('echo', { text: 'x' }))).toBe('x');
      },
    );
  }

  test('the official v1 client with our server', async () => {
    const client = await officialV1('dual');
    expect(await client.callTool({ name: 'echo', arguments: { text: 'x' } })).toMatchObject({
      content: [{ type: 'text', text: 'x' }],
    });
  });

  test('the official v2 client in mode auto finds our server modern', async () => {
    const client = await officialV2('dual', 'auto');
    expect(await client.callTool({ name: 'echo', arguments: { text: 'x' } })).toMatchObject({
      content: [{ type: 'text', text: 'x' }],
    });
  });
});

describe('legacy client, legacy server: works per that revision', () => {
  for (const [title, file, which] of SERVERS.legacy) {
    test(`${title}, mode legacy`, () => works(start(file, which), 'legacy', 'legacy'));

    test(`${title}, pinned to 2025-03-26`, async () => {
      const client = await openClient(start(file, which), { mode: '2025-03-26' });
      expect(client.revision).toBe('2025-03-26');
      expect(textOf(await client.callTool('echo', { text: 'x' }))).toBe('x');
    });
  }

  test('the official v1 client with our server', async () => {
    const client = await officialV1('legacy');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo']);
  });
});

async function officialV1(which: string): Promise<ClientV1> {
  const { client } = await connectV1({
    command: process.execPath,
    args: [peer('matrix-isthmus.mjs'), which],
  });
  onTestFinished(() => client.close());
  return client;
}

async function officialV2(which: string, mode: 'auto' | 'legacy'): Promise<ClientV2> {
  const args = [peer('matrix-isthmus.mjs'), which];
  const { client } = await connectV2({ command: process.execPath, args }, { mode });
  onTestFinished(() => client.close());
  return client;
}
