import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ensureBuilt } from '../../../../../scripts/setup.js';
import type { Clock } from '../../../src/async/clock.js';
import { type CachedEra, fileEraCache, memoryEraCache } from '../../../src/client/negotiation/era-cache.js';

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;
const MODERN: CachedEra = { era: 'modern', revision: '2026-07-28', at: NOW };
const LEGACY: CachedEra = { era: 'legacy', revision: '2025-11-25', at: NOW };
const onPosix = process.platform !== 'win32';
// printf %s weather | sha256sum
const WEATHER_FILE = 'e5e72beb4e3c6926d3dc9e3e2ef7833ba50cd919c2460a782b244fd071e920de.json';

describe('any era cache', () => {
  for (const [name, create] of [
    [
      'fileEraCache',
      async (clock: Clock, ttlMs?: number) => fileEraCache({ folder: await temporary(), clock, ttlMs }),
    ],
    ['memoryEraCache', async (clock: Clock, ttlMs?: number) => memoryEraCache({ clock, ttlMs })],
  ] as const) {
    test(`${name} gives back what was set, per key, until it is deleted`, async () => {
      const cache = await create(stoppedClock());
      expect(await cache.get('weather')).toBeUndefined();
      await cache.set('weather', MODERN);
      await cache.set('mail', LEGACY);
      expect(await cache.get('weather')).toEqual({ era: 'modern', revision: '2026-07-28', at: NOW });
      expect(await cache.get('mail')).toEqual({ era: 'legacy', revision: '2025-11-25', at: NOW });
      await cache.set('weather', LEGACY);
      expect(await cache.get('weather')).toEqual(LEGACY);
      await cache.delete('weather');
      await cache.delete('weather');
      expect(await cache.get('weather')).toBeUndefined();
      expect(await cache.get('mail')).toEqual(LEGACY);
    });

    test(`${name} believes a verdict for seven days`, async () => {
      const clock = stoppedClock();
      const cache = await create(clock);
      await cache.set('weather', MODERN);
      clock.time = NOW + 7 * DAY - 1;
      expect(await cache.get('weather')).toEqual(MODERN);
      clock.time = NOW + 7 * DAY;
      expect(await cache.get('weather')).toBeUndefined();
      clock.time = NOW;
      expect(await cache.get('weather')).toBeUndefined();
    });

    test(`${name} believes a verdict for the configured time`, async () => {
      const clock = stoppedClock();
      const cache = await create(clock, 1000);
      await cache.set('weather', MODERN);
      clock.time = NOW + 999;
      expect(await cache.get('weather')).toEqual(MODERN);
      clock.time = NOW + 1000;
      expect(await cache.get('weather')).toBeUndefined();
    });

    test(`${name} does not believe a verdict from far ahead`, async () => {
      const cache = await create(stoppedClock());
      await cache.set('weather', { ...MODERN, at: NOW + 7 * DAY });
      expect(await cache.get('weather')).toBeUndefined();
    });

    test(`${name} keeps no more of a verdict than it promises`, async () => {
      const cache = await create(stoppedClock());
      await cache.set('weather', { ...MODERN, token: 'hunter2' } as CachedEra);
      expect(await cache.get('weather')).toEqual({ era: 'modern', revision: '2026-07-28', at: NOW });
    });
  }

  test('memoryEraCache forgets the oldest of more than a thousand', async () => {
    const cache = memoryEraCache({ clock: stoppedClock() });
    for (let i = 0; i <= 1000; i += 1) await cache.set(`server ${i}`, MODERN);
    expect(await cache.get('server 0')).toBeUndefined();
    expect(await cache.get('server 1')).toEqual(MODERN);
    expect(await cache.get('server 1000')).toEqual(MODERN);
  });
});

describe('the files of an era cache', () => {
  test('are read by the next cache on the same folder', async () => {
    const folder = await temporary();
    await fileEraCache({ folder, clock: stoppedClock() }).set('weather', MODERN);
    expect(await fileEraCache({ folder, clock: stoppedClock() }).get('weather')).toEqual(MODERN);
  });

  test('are named by the hash of the key and hold nothing of it', async () => {
    const folder = await temporary();
    const key = 'npx weather --api-key hunter2';
    await fileEraCache({ folder, clock: stoppedClock() }).set(key, MODERN);
    expect(await readdir(folder)).toEqual([
      '209eb31c8d6126a73b0d16a77150a344028622e53ac0451ba78844a62fa8717e.json',
    ]);
    expect(await readFile(join(folder, (await readdir(folder))[0]!), 'utf8')).toBe(
      '{"format":1,"era":"modern","revision":"2026-07-28","at":1800000000000}\n',
    );
  });

  test.runIf(onPosix)('and their folder are for the user alone', async () => {
    const folder = join(await temporary(), 'isthmus', 'eras');
    await fileEraCache({ folder, clock: stoppedClock() }).set('weather', MODERN);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, WEATHER_FILE))).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['nothing', ''],
    ['half of an entry', '{"format":1,"era":"modern","revi'],
    ['not an object', '17'],
    ['null', 'null'],
    ['bytes', '\u0000\uffff\u0000'],
    ['another format', '{"format":2,"era":"modern","revision":"2026-07-28","at":1800000000000}'],
    ['no format', '{"era":"modern","revision":"2026-07-28","at":1800000000000}'],
    ['an unknown era', '{"format":1,"era":"ancient","revision":"2026-07-28","at":1800000000000}'],
    ['no revision', '{"format":1,"era":"modern","at":1800000000000}'],
    ['an empty revision', '{"format":1,"era":"modern","revision":"","at":1800000000000}'],
    ['a date that is text', '{"format":1,"era":"modern","revision":"2026-07-28","at":"1800000000000"}'],
    ['an expired entry', '{"format":1,"era":"modern","revision":"2026-07-28","at":1000000000000}'],
    [
      'a megabyte',
      `{"format":1,"era":"modern","revision":"2026-07-28","at":1800000000000${' '.repeat(1_000_000)}}`,
    ],
  ])('that hold %s count as absent and are removed', async (_what, text) => {
    const folder = await temporary();
    const cache = fileEraCache({ folder, clock: stoppedClock() });
    await writeFile(join(folder, WEATHER_FILE), text);
    expect(await cache.get('weather')).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
    await cache.set('weather', MODERN);
    expect(await cache.get('weather')).toEqual(MODERN);
  });

  test('may be directories by mistake: absent, and left alone', async () => {
    const folder = await temporary();
    const cache = fileEraCache({ folder, clock: stoppedClock() });
    await mkdir(join(folder, WEATHER_FILE, 'inside'), { recursive: true });
    expect(await cache.get('weather')).toBeUndefined();
    await cache.set('weather', MODERN);
    await cache.delete('weather');
    expect(await cache.get('weather')).toBeUndefined();
    expect(await readdir(folder)).toEqual([WEATHER_FILE]);
  });

  test('that have expired go when something is set, and so do drafts that were left behind', async () => {
    const folder = await temporary();
    const clock = stoppedClock();
    const first = fileEraCache({ folder, clock });
    for (let i = 0; i < 10; i += 1) await first.set(`old ${i}`, MODERN);
    clock.time = NOW + 3 * DAY;
    await first.set('young', { ...MODERN, at: clock.time });
    const left = join(folder, 'left.json.tmp');
    const underWay = join(folder, 'under-way.json.tmp');
    await writeFile(left, '{');
    await writeFile(underWay, '{');
    await writeFile(join(folder, 'README'), 'not ours');
    clock.time = NOW + 7 * DAY;
    await utimes(left, clock.time / 1000 - 3601, clock.time / 1000 - 3601);
    await utimes(underWay, clock.time / 1000 - 1, clock.time / 1000 - 1);

    await fileEraCache({ folder, clock }).set('weather', { ...MODERN, at: clock.time });
    const names = await readdir(folder);
    expect(names).toHaveLength(4);
    expect(names).toEqual(expect.arrayContaining(['README', 'under-way.json.tmp', WEATHER_FILE]));
    expect(await first.get('young')).toEqual({ ...MODERN, at: NOW + 3 * DAY });
  });

  test('are looked through in bounded portions', async () => {
    const folder = await temporary();
    const clock = stoppedClock();
    const expired = '{"format":1,"era":"modern","revision":"2026-07-28","at":1}';
    for (let i = 0; i < 100; i += 1) {
      await writeFile(join(folder, `${String(i).padStart(64, '0')}.json`), expired);
    }
    const cache = fileEraCache({ folder, clock });
    await cache.set('weather', MODERN);
    expect(await readdir(folder)).toHaveLength(69);
    for (let i = 0; i < 31; i += 1) await cache.set('weather', MODERN);
    expect(await readdir(folder)).toHaveLength(69);
    await cache.set('weather', MODERN);
    expect(await readdir(folder)).toHaveLength(37);
  });
});

describe('an era cache that cannot write', () => {
  test('goes on where its folder is a file', async () => {
    const folder = join(await temporary(), 'file');
    await writeFile(folder, 'in the way');
    const cache = fileEraCache({ folder: join(folder, 'eras'), clock: stoppedClock() });
    await cache.set('weather', MODERN);
    expect(await cache.get('weather')).toBeUndefined();
    await cache.delete('weather');
    expect(await readFile(folder, 'utf8')).toBe('in the way');
  });

  test.runIf(onPosix)('still reads, and leaves no draft, where its folder is read-only', async () => {
    const folder = await temporary();
    await fileEraCache({ folder, clock: stoppedClock() }).set('weather', MODERN);
    await chmod(join(folder, WEATHER_FILE), 0o444);
    await chmod(folder, 0o555);
    onTestFinished(() => chmod(folder, 0o700));
    await withoutPrivileges(async () => {
      const cache = fileEraCache({ folder, clock: stoppedClock() });
      await cache.set('weather', LEGACY);
      await cache.set('mail', LEGACY);
      expect(await cache.get('weather')).toEqual(MODERN);
      expect(await cache.get('mail')).toBeUndefined();
      await cache.delete('weather');
      expect(await cache.get('weather')).toEqual(MODERN);
    });
    expect(await readdir(folder)).toEqual([WEATHER_FILE]);
  });
});

describe.runIf(process.platform === 'linux')('the folder of an era cache', () => {
  test('is below XDG_CACHE_HOME', async () => {
    const home = await temporary();
    vi.stubEnv('XDG_CACHE_HOME', home);
    onTestFinished(() => void vi.unstubAllEnvs());
    await fileEraCache({ clock: stoppedClock() }).set('weather', MODERN);
    expect(await readdir(join(home, 'isthmus', 'eras'))).toEqual([WEATHER_FILE]);
  });

  test.each(['', 'relative/path'])('is below ~/.cache when XDG_CACHE_HOME is %j', async (value) => {
    const home = await temporary();
    vi.stubEnv('HOME', home);
    vi.stubEnv('XDG_CACHE_HOME', value);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(homedir()).toBe(home);
    await fileEraCache({ clock: stoppedClock() }).set('weather', MODERN);
    expect(await readdir(join(home, '.cache', 'isthmus', 'eras'))).toEqual([WEATHER_FILE]);
  });
});

test('twenty processes on one key never see a part of an entry, and leave one file', async () => {
  await ensureBuilt();
  const folder = await temporary();
  const module = new URL('../../../dist/client/negotiation/era-cache.js', import.meta.url).href;
  const program = `
    const { fileEraCache } = await import(${JSON.stringify(module)});
    const cache = fileEraCache({ folder: process.argv[1] });
    const revision = 'r'.repeat(Number(process.argv[2]) * 20 + 1);
    let seen = 0;
    for (let i = 0; i < 40; i += 1) {
      await cache.set('weather', { era: i % 2 ? 'modern' : 'legacy', revision, at: Date.now() });
      const verdict = await cache.get('weather');
      if (verdict === undefined) throw new Error('no verdict in round ' + i);
      if (!/^r+$/.test(verdict.revision)) throw new Error('foreign verdict ' + JSON.stringify(verdict));
      seen += 1;
    }
    console.log(seen);
  `;
  const ends = await Promise.all(Array.from({ length: 20 }, (_, i) => runNode(program, [folder, String(i)])));
  expect(ends).toEqual(Array.from({ length: 20 }, () => '40\n'));
  expect(await readdir(folder)).toEqual([WEATHER_FILE]);
  expect((await fileEraCache({ folder }).get('weather'))?.revision).toMatch(/^r+$/);
});

/** The output of a program, or what went wrong with it. */
async function runNode(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 50_000,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await once(child, 'close');
  return output;
}

/** Root may write anywhere, so for a moment we are nobody. */
async function withoutPrivileges(work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work();
  const nobody = 65534;
  process.setegid!(nobody);
  process.seteuid!(nobody);
  try {
    await work();
  } finally {
    process.seteuid!(0);
    process.setegid!(0);
  }
}

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-eras-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function stoppedClock(): Clock & { time: number } {
  return {
    time: NOW,
    now() {
      return this.time;
    },
    after: () => () => {},
  };
}
