/** What the command loads before its first answer: a client waits for it, and each of these takes milliseconds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, ISTHMUS, startChild } from '../support/child.js';
import { call, initialize } from '../support/messages.js';

/** What the benchmark of starts serves: it knows both eras, or with `legacy` that one. */
const SERVER = fileURLToPath(new URL('../../benchmarks/subjects/bridge-upstream.js', import.meta.url));
const SERVE = ['serve', '--listen', 'stdio', '--', process.execPath, SERVER];
const MODERN = call(1, 'echo', { text: 'a' });
const LEGACY = initialize(1);

describe('what is loaded for a first answer', () => {
  it.each([
    { name: 'of a bridge to a modern client', args: SERVE, opening: MODERN, late: [] },
    { name: 'of a bridge to a legacy client', args: SERVE, opening: LEGACY, late: ['legacy-clients'] },
    {
      name: 'of a bridge to a modern client and a legacy server',
      args: [...SERVE, 'legacy'],
      opening: MODERN,
      late: ['legacy-servers'],
    },
    { name: 'of the demo to a modern client', args: ['demo'], opening: MODERN, late: ['tasks-of-servers'] },
    {
      name: 'of the demo to a legacy client',
      args: ['demo'],
      opening: LEGACY,
      late: ['legacy-clients', 'tasks-of-servers'],
    },
  ])('$name', async ({ args, opening, late }) => {
    const loaded = await loadedAtFirstAnswer(args, opening);
    // Without these the list would be that of something else.
    expect(loaded).toEqual(expect.arrayContaining(['fs', 'net', 'main.js']));
    expect(loaded.filter((each) => SLOW.includes(each))).toEqual([]);
    const files = loaded.flatMap((each) => /^later-(.*)\.js$/.exec(each)?.[1] ?? []);
    expect(files.sort()).toEqual(late);
  });
});

const SLOW = ['crypto', 'dns', 'http', 'http2', 'https', 'inspector', 'tls', 'worker_threads', 'zlib'];

async function loadedAtFirstAnswer(args: readonly string[], opening: object): Promise<string[]> {
  // Nothing is remembered about the server, as at the very first start.
  const home = mkdtempSync(join(tmpdir(), 'isthmus-start-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    NODE_OPTIONS: `--require ${fixture('loaded-at-first-answer.cjs')}`,
  };
  const child = startChild(ISTHMUS, { args, env });
  child.send(opening);
  await child.answer(1);
  child.end();
  await child.exit();
  const [, list] = /^loaded (.*)$/m.exec(child.stderr) ?? [];
  return JSON.parse(list ?? '[]');
}
