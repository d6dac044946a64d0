import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ISTHMUS, startChild } from '../../../../test/support/child.js';
import type { ClientReport } from '../../src/client/run/check-client.js';
import { inDocument, markdown, writeToDocument } from '../support/client/document.js';

// Minutes: every client in a process of its own, for every server. `npm run test:long`.
const LONGEST_MS = 600_000;

const CLIENTS = [
  ['isthmus', 'isthmus'],
  ['official v2', 'official-v2'],
  ['official v1', 'official-v1'],
] as const;

it('docs/check-client.md has what is found out about our client and the official ones', {
  timeout: 1_800_000,
}, async () => {
  const reports: ClientReport[] = [];
  for (const [, file] of CLIENTS) {
    const program = fileURLToPath(new URL(`clients/${file}.mjs`, import.meta.url));
    const lines: string[] = [];
    const args = ['check-client', '--auth', '--json', '--jobs', '3'];
    const child = startChild(ISTHMUS, {
      args: [...args, '--', process.execPath, program, '{server}'],
      onLine: (line) => lines.push(line),
    });
    await child.exit(LONGEST_MS);
    reports.push(JSON.parse(lines.join('\n')) as ClientReport);
  }
  const table = resultTable(reports);
  if (process.env['ISTHMUS_WRITE_DOCS'] === '1') writeToDocument('results', table);
  expect(inDocument('results')).toBe(table);
});

function resultTable(reports: readonly ClientReport[]): string {
  const names = CLIENTS.map(([name]) => name);
  const broken = reports[0]!.findings.filter((_, at) =>
    reports.some(({ findings }) => ['fail', 'warn', 'error'].includes(findings[at]!.outcome)),
  );
  const cells = (pick: (report: ClientReport) => string) => reports.map(pick);
  return markdown(
    ['', ...names],
    [
      ['grade', ...cells(({ grade }) => grade.letter)],
      ['MUST that hold, of those that apply', ...cells(({ grade }) => `${grade.must} %`)],
      ['SHOULD that hold', ...cells(({ grade }) => `${grade.should} %`)],
      ['checks that hold', ...cells(({ counts }) => String(counts.pass))],
      ['that do not apply', ...cells(({ counts }) => String(counts.skip))],
      ...broken.map(({ id, level }) => [
        `\`${id}\` (${level})`,
        ...cells(({ findings }) => WORDS[findings.find((each) => each.id === id)!.outcome]),
      ]),
    ],
  );
}

const WORDS = {
  pass: 'holds',
  fail: 'fails',
  warn: 'warns',
  skip: 'does not apply',
  error: 'not finished',
} as const;
