import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['test', ...['sdk', 'gateway', 'check', 'cli'].map((name) => `packages/${name}/test`)];

/** Their files run one after the other in processes of their own, and load what they import for themselves. */
const ALONE = ['test/bridge-matrix/bridge.ts'];

it('support files of tests have no hooks at their top, which only the first file of a process would get', async () => {
  const names: string[] = [];
  for (const folder of FOLDERS) {
    const inside = await readdir(join(root, folder), { recursive: true });
    names.push(...inside.map((name) => `${folder}/${name.replaceAll('\\', '/')}`));
  }
  const support = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  expect(support.length).toBeGreaterThan(100);
  const found: string[] = [];
  for (const name of support) {
    const text = await readFile(join(root, name), 'utf8');
    if (/^(?:before|after)(?:Each|All)\(/m.test(text)) found.push(name);
  }
  expect(found).toEqual(ALONE);
});
