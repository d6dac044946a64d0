/** docs/solved.md says what is tested, and where. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = new URL('./', import.meta.url);
const page = readFileSync(new URL('../../docs/solved.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| (D-\d+) +\| (.+?) +\|.*\| (.+?) +\|$/gm)].map(
  ([, number, issue, tests]) => ({
    number: number!,
    issue: issue!,
    files: tests!.split(', ').map((name) => name.replaceAll('`', '')),
  }),
);

it('every row has a test in the file that it names, and every such test has its row', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 25 }, (_, at) => `D-${at + 1}`));
  for (const { number, issue, files } of rows) {
    const text = readFileSync(new URL(`${files[0]}.test.ts`, folder), 'utf8');
    const [first] = issue.split(', ');
    expect(text, `${number} in ${files[0]}`).toMatch(new RegExp(`'${number} [^']*${first!.split('#')[0]}`));
  }
  const titles = readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts') && name !== 'document.test.ts')
    .flatMap((name) => {
      const text = readFileSync(new URL(name, folder), 'utf8');
      return [...text.matchAll(/'(D-\d+) /g)].map(
        ([, number]) => `${number} ${name.replace('.test.ts', '')}`,
      );
    });
  const told = new Set(rows.map(({ number, files }) => `${number} ${files[0]}`));
  expect([...new Set(titles)].filter((each) => !told.has(each))).toEqual([]);
});
