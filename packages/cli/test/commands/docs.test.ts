import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isthmus } from '../support/isthmus.js';

const GUIDE = readFileSync(new URL('../../../../docs/guides/hosts.md', import.meta.url), 'utf8');

it('lists the pages with their titles', async () => {
  const { code, stdout } = await isthmus('docs');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^getting-started +Getting started$/m);
  expect(stdout).not.toContain('decisions/');
});

it.each(['guides/hosts', 'hosts', 'docs/guides/hosts.md'])('shows the page called %s', async (name) => {
  expect(await isthmus('docs', name)).toMatchObject({ code: 0, stdout: GUIDE });
});

it('prints where the pages are', async () => {
  const { stdout } = await isthmus('docs', 'hosts', '--path');
  expect(readFileSync(stdout.trimEnd(), 'utf8')).toBe(GUIDE);
});

it('names similar pages where there is no such page', async () => {
  const { code, stderr } = await isthmus('docs', 'check-c');
  expect(code).toBe(2);
  expect(stderr).toContain('There is no page "check-c"');
  expect(stderr).toContain('Similar pages: check-ci, check-client');
});
