/** `isthmus replay`: what a trace file has is sent again, and the answers are compared. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stdio } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { isthmus } from '../../packages/cli/test/support/isthmus.js';
import type { ConsoleClient } from '../../packages/console/test/support/console-client.js';
import { inspect } from '../../packages/console/test/support/inspected.js';

const PROGRAM = new URL('../programs/server-that-changes.mjs', import.meta.url).pathname;

/** Talks to the program through a console, and saves what went over the wire. */
async function record(
  era: 'legacy' | 'modern',
  talk: (page: ConsoleClient) => Promise<void>,
): Promise<string> {
  const { client } = await inspect((tap) => stdio({ command: process.execPath, args: [PROGRAM, era], tap }));
  await talk(client);
  const file = join(mkdtempSync(join(tmpdir(), 'isthmus-replay-')), 'talk.mcptrace');
  writeFileSync(file, await (await client.send('POST traces', { body: {} })).text());
  return file;
}

async function forecastAndQuestion(page: ConsoleClient): Promise<void> {
  await page.ask('GET lists/:what', { path: ['tools'] });
  await page.call('tools/call', '{"name":"forecast","arguments":{"city":"Panama"}}');
  const feed = await page.feed(['calls', 'questions']);
  const { call } = await page.ask('POST calls', { body: { method: 'tools/call', params: '{"name":"ask"}' } });
  const { id } = await feed.next('question');
  await page.ask('POST questions/:id', {
    path: [id],
    body: { action: 'accept', content: '{"day":"Monday"}' },
  });
  await feed.next('call', (row) => row.id === call && row.state === 'done');
  feed.close();
}

const replay = (file: string, words: string[], ...args: string[]) =>
  isthmus('replay', file, ...args, '--', process.execPath, PROGRAM, ...words);

describe.each(['legacy', 'modern'] as const)('a trace of a %s server', (era) => {
  it('finds nothing when the server answers as before, though times and states differ', async () => {
    const file = await record(era, forecastAndQuestion);
    const ran = await replay(file, [era], '--json');
    expect(ran.stderr).toBe('');
    const report = JSON.parse(ran.stdout) as { different: number; requests: { method: string }[] };
    expect(report).toMatchObject({ file, different: 0 });
    expect(report.requests.map(({ method }) => method)).toEqual(
      era === 'legacy'
        ? ['server/discover', 'initialize', 'tools/list', 'tools/call', 'elicitation/create', 'tools/call']
        : ['server/discover', 'tools/list', 'tools/call', 'tools/call', 'tools/call'],
    );
    expect(ran.code).toBe(0);
  }, 60_000);

  it('shows what differs to people, and exits with 1', async () => {
    const file = await record(era, forecastAndQuestion);
    const ran = await replay(file, [era, 'snow']);
    expect(ran.stdout).toContain('tools/call forecast\n  result.content[0].text\n');
    expect(ran.stdout).toContain('    was "It will rain in Panama."\n    is  "It will snow in Panama."\n');
    expect(ran.stdout).toMatch(/\d compared: \d as recorded, 1 different\n$/);
    expect(ran.code).toBe(1);
    expect((await replay(file, [era, 'snow'], '--shape')).code).toBe(0);
  }, 60_000);
});

it('says that a question did not come, and that a server has ended', async () => {
  const file = await record('legacy', forecastAndQuestion);
  const silent = await replay(file, ['legacy', 'no-question']);
  expect(silent.stdout).toContain('elicitation/create\n  it did not ask this\n');
  expect(silent.code).toBe(1);
  const gone = await replay(file, ['legacy', 'crash'], '--json');
  const { requests } = JSON.parse(gone.stdout) as { requests: { method: string; failure?: string }[] };
  expect(requests.find(({ failure }) => failure !== undefined)).toMatchObject({ method: 'tools/call' });
  expect(gone.code).toBe(1);
  const missing = await isthmus('replay', file, '--', '/does/not/exist');
  expect([missing.code, missing.stdout]).toEqual([3, '']);
}, 60_000);

it('refuses what is not a trace file', async () => {
  const other = join(mkdtempSync(join(tmpdir(), 'isthmus-replay-')), 'other.mcptrace');
  writeFileSync(other, '{"log":1}\n');
  const ran = await replay(other, ['legacy']);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain('is not a trace file');
  expect((await isthmus('replay', '--', 'node')).stderr).toContain('No trace file given');
  expect(readFileSync(other, 'utf8')).toBe('{"log":1}\n');
});
