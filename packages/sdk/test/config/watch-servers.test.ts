/** Files that change while they are in use. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import {
  type ServersChange,
  type ServersWatch,
  type WatchFolder,
  type WatchOptions,
  watchServers,
} from '../../src/config/index.js';
import { watchedPathsOf } from '../../src/config/watch-folders.js';
import { folderWith } from '../support/config.js';

const one = (command: string) => `{ "mcpServers": { "x": { "command": "${command}" } } }`;

/** What a change says about the server `x`, or what is wrong. */
function told(change: ServersChange): string {
  if (change.kind === 'broken') return change.problems[0]!.message;
  const entry = change.servers.servers['x'];
  return entry?.kind === 'command' ? entry.command : 'gone';
}

interface Seen {
  readonly watch: ServersWatch;
  readonly all: string[];
  /** The next change that was not taken yet, within a bound. */
  next(): Promise<string>;
}

async function watchOf(files: readonly string[], options: WatchOptions): Promise<Seen> {
  const all: string[] = [];
  let taken = 0;
  let wake = () => {};
  const watch = await watchServers(files, options, (change) => {
    all.push(told(change));
    wake();
  });
  onTestFinished(() => watch.close());
  return {
    watch,
    all,
    async next() {
      const limit = AbortSignal.timeout(4000);
      while (all.length === taken) {
        await new Promise<void>((resolve, reject) => {
          wake = resolve;
          limit.addEventListener('abort', () => reject(new Error('no change was told within 4 s')));
        });
      }
      taken += 1;
      return all[taken - 1]!;
    },
  };
}

/** A system that tells what the test says. */
function createSystem() {
  const folders = new Map<string, (name: string | undefined) => void>();
  const watchFolder: WatchFolder = (folder, onEvent) => {
    folders.set(folder, onEvent);
    return () => folders.delete(folder);
  };
  return {
    watchFolder,
    folders,
    tell(folder: string, name: string | undefined) {
      folders.get(folder)!(name);
    },
  };
}

describe('a watch, with time and the system in our hands', () => {
  async function open(options: WatchOptions = {}) {
    const folder = folderWith({ 'a.json': one('first') });
    const clock = new FakeClock();
    const system = createSystem();
    const { watchFolder } = system;
    const seen = await watchOf(['a.json'], { cwd: folder, clock, lookMs: false, watchFolder, ...options });
    return { ...seen, folder, file: join(folder, 'a.json'), clock, system };
  }

  it('has read the files when it begins', async () => {
    const { watch, all } = await open();
    expect(told(watch.current)).toBe('first');
    expect(all).toEqual([]);
  });

  it('reads when the files were left alone for a while', async () => {
    const { folder, file, clock, system, next, watch, all } = await open();
    writeFileSync(file, one('second'));
    system.tell(folder, 'a.json');
    clock.advance(99);
    system.tell(folder, 'a.json');
    clock.advance(99);
    expect([clock.waiting, all]).toEqual([1, []]);
    clock.advance(1);
    expect(await next()).toBe('second');
    expect(told(watch.current)).toBe('second');
  });

  it('does not wait for ever for a file that is never left alone', async () => {
    const { folder, file, clock, system, next } = await open();
    writeFileSync(file, one('second'));
    for (let at = 0; at < 20; at += 1) {
      system.tell(folder, 'a.json');
      clock.advance(50);
    }
    expect(clock.waiting).toBe(0);
    expect(await next()).toBe('second');
  });

  it('does not care about other files, but about events without a name', async () => {
    const { folder, clock, system } = await open();
    system.tell(folder, 'b.json');
    expect(clock.waiting).toBe(0);
    system.tell(folder, undefined);
    expect(clock.waiting).toBe(1);
  });

  it('says nothing when the files say the same', async () => {
    const { folder, file, clock, system, watch, all } = await open();
    writeFileSync(file, one('first'));
    system.tell(folder, 'a.json');
    clock.advance(100);
    await watch.reread();
    expect(all).toEqual([]);
  });

  it('tells that a file is broken, and when it is well again', async () => {
    const { folder, file, clock, system, next } = await open();
    const save = (text: string) => {
      writeFileSync(file, text);
      system.tell(folder, 'a.json');
      clock.advance(100);
      return next();
    };
    expect(await save('{')).toBe('expected a comma or a closing }');
    expect(await save('{ "gateway": 1 }')).toBe('must be an object, not a number');
    expect(await save(one('first'))).toBe('first');
  });

  it('one bad server does not break the file', async () => {
    const { file, watch } = await open();
    writeFileSync(file, '{ "mcpServers": { "x": { "command": "c" }, "y": {} } }');
    expect(await watch.reread()).toMatchObject({
      kind: 'read',
      servers: { problems: [{ severity: 'error', server: 'y' }] },
    });
  });

  it('can be told to read, and tells the callback, too', async () => {
    const { file, watch, all } = await open();
    writeFileSync(file, one('second'));
    expect(told(await watch.reread())).toBe('second');
    expect(told(await watch.reread())).toBe('second');
    expect(all).toEqual(['second']);
  });

  it('looks now and then where the system tells nothing', async () => {
    const watchFolder: WatchFolder = () => {
      throw new Error('ENOSPC');
    };
    const { file, clock, next, all } = await open({ lookMs: 5000, watchFolder });
    writeFileSync(file, one('second'));
    clock.advance(5000);
    await expect.poll(() => clock.waiting, { timeout: 4000 }).toBe(2);
    expect(all).toEqual([]);
    clock.advance(100);
    expect(await next()).toBe('second');
  });

  it('is silent after it was closed, twice', async () => {
    const { folder, file, clock, system, watch, all } = await open({ lookMs: 5000 });
    writeFileSync(file, one('second'));
    system.tell(folder, 'a.json');
    watch.close();
    watch.close();
    expect([clock.waiting, system.folders.size]).toEqual([0, 0]);
    expect(told(await watch.reread())).toBe('first');
    expect(all).toEqual([]);
  });

  it('goes on after a callback that failed', async () => {
    const folder = folderWith({ 'a.json': one('first') });
    const watch = await watchServers('a.json', { cwd: folder, lookMs: false }, () => {
      throw new Error('mine');
    });
    onTestFinished(() => watch.close());
    writeFileSync(join(folder, 'a.json'), one('second'));
    await expect(watch.reread()).rejects.toThrow('mine');
    expect(told(await watch.reread())).toBe('second');
  });
});

describe('a watch on real files', () => {
  const REAL: WatchOptions = { quietMs: 10, lookMs: false };

  it('sees a file that is written in place', async () => {
    const cwd = folderWith({ 'a.json': one('first') });
    const { next } = await watchOf(['a.json'], { ...REAL, cwd });
    writeFileSync(join(cwd, 'a.json'), one('second'));
    expect(await next()).toBe('second');
  });

  it('sees a file that is replaced, time and again, as editors do it', async () => {
    const cwd = folderWith({ 'a.json': one('first') });
    const { next } = await watchOf(['a.json'], { ...REAL, cwd });
    for (const command of ['second', 'third', 'fourth']) {
      writeFileSync(join(cwd, 'a.json.tmp'), one(command));
      renameSync(join(cwd, 'a.json.tmp'), join(cwd, 'a.json'));
      expect(await next()).toBe(command);
    }
  });

  it('sees a file that appears later, and goes away again', async () => {
    const cwd = folderWith({ 'other.json': '{ "mcpServers": {} }' });
    const { next, watch } = await watchOf(['other.json', 'a.json'], { ...REAL, cwd, skipMissing: true });
    expect(told(watch.current)).toBe('gone');
    writeFileSync(join(cwd, 'a.json'), one('first'));
    expect(await next()).toBe('first');
    rmSync(join(cwd, 'a.json'));
    expect(await next()).toBe('gone');
  });

  it('sees a file in a folder that appears later', async () => {
    const cwd = folderWith({});
    const { next } = await watchOf([join('deep', 'er', 'a.json')], { ...REAL, cwd });
    mkdirSync(join(cwd, 'deep', 'er'), { recursive: true });
    writeFileSync(join(cwd, 'deep', 'er', 'a.json'), one('first'));
    expect(await next()).toBe('first');
    writeFileSync(join(cwd, 'deep', 'er', 'a.json'), one('second'));
    expect(await next()).toBe('second');
  });

  it('sees a file whose folder is replaced', async () => {
    const cwd = folderWith({ 'conf/a.json': one('first'), 'new/a.json': one('second') });
    const { next } = await watchOf([join('conf', 'a.json')], { ...REAL, cwd });
    renameSync(join(cwd, 'conf'), join(cwd, 'old'));
    renameSync(join(cwd, 'new'), join(cwd, 'conf'));
    expect(await next()).toBe('second');
    writeFileSync(join(cwd, 'conf', 'a.json'), one('third'));
    expect(await next()).toBe('third');
  });

  it('sees what is behind a link, and the link that is turned, as with volumes of Kubernetes', async () => {
    const cwd = folderWith({ '..1/a.json': one('first'), '..2/a.json': one('second') });
    symlinkSync('..1', join(cwd, '..data'));
    symlinkSync(join('..data', 'a.json'), join(cwd, 'a.json'));
    const { next } = await watchOf(['a.json'], { ...REAL, cwd });
    symlinkSync('..2', join(cwd, '..tmp'));
    renameSync(join(cwd, '..tmp'), join(cwd, '..data'));
    expect(await next()).toBe('second');
    writeFileSync(join(cwd, '..2', 'a.json'), one('third'));
    expect(await next()).toBe('third');
  });
});

describe('the places of a file', () => {
  it('are its folder, the links on the way, and what is missing', async () => {
    const folder = folderWith({ 'real/a.json': '{}' });
    symlinkSync('real', join(folder, 'link'));
    expect(await watchedPathsOf(join(folder, 'real', 'a.json'))).toEqual([
      { folder: join(folder, 'real'), name: 'a.json' },
    ]);
    expect(await watchedPathsOf(join(folder, 'link', 'a.json'))).toEqual([
      { folder, name: 'link' },
      { folder: join(folder, 'real'), name: 'a.json' },
    ]);
    expect(await watchedPathsOf(join(folder, 'link', 'no', 'b.json'))).toEqual([
      { folder, name: 'link' },
      { folder: join(folder, 'real'), name: 'no' },
    ]);
  });

  it('come to an end where links go in circles', async () => {
    const folder = folderWith({});
    symlinkSync('b', join(folder, 'a'));
    symlinkSync('a', join(folder, 'b'));
    expect(await watchedPathsOf(join(folder, 'a'))).toHaveLength(41);
  });
});
