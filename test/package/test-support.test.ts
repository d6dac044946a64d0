import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = [
  'test',
  ...['sdk', 'gateway', 'check', 'console', 'cli'].map((name) => `packages/${name}/test`),
];

/** Their files run one after the other in processes of their own, and load what they import for themselves. */
const ALONE = ['test/bridge-matrix/bridge.ts'];

it('support files of tests have no hooks at their top, which only the first file of a process would get', async () => {
  const support = (await testFiles()).filter(({ name }) => !name.endsWith('.test.ts'));
  expect(support.length).toBeGreaterThan(100);
  const hooked = support.filter(({ text }) => /^(?:before|after)(?:Each|All)\(/m.test(text));
  expect(hooked.map(({ name }) => name)).toEqual(ALONE);
});

it('one file has `until`, and one for each generation connects official clients', async () => {
  const files = await testFiles();
  const having = (pattern: RegExp) => files.filter(({ text }) => pattern.test(text)).map(({ name }) => name);
  expect(having(/(?:function|const) until\b[^a-zA-Z]*[(<]/)).toEqual(['test/support/until.ts']);
  expect(having(/new (?:Stdio|SSE|StreamableHTTP)ClientTransport\(/)).toEqual([
    'test/support/official-v1.ts',
    'test/support/official-v2.ts',
  ]);
});

async function testFiles(): Promise<{ readonly name: string; readonly text: string }[]> {
  const names: string[] = [];
  for (const folder of FOLDERS) {
    const inside = await readdir(join(root, folder), { recursive: true });
    names.push(...inside.map((name) => `${folder}/${name.replaceAll('\\', '/')}`));
  }
  const sources = names.filter((name) => name.endsWith('.ts')).sort();
  return Promise.all(sources.map(async (name) => ({ name, text: await readFile(join(root, name), 'utf8') })));
}
