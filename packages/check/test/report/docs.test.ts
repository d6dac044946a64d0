/** What docs/check-ci.md says is what the program does. */
import { readFile } from 'node:fs/promises';
import { checkCommand } from 'isthmus/internal/commands/check.js';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/model.js';
import { formatBaseline, parseBaseline } from '../../src/run/baseline.js';
import { gradeOf } from '../../src/run/grade.js';
import { aFinding } from '../support/report/sample-report.js';

const page = await readFile(new URL('../../../../docs/check-ci.md', import.meta.url), 'utf8');

describe('the page about checking in CI', () => {
  it('has a baseline that is read, and written as it stands there', () => {
    const [text] = blocks('json');
    expect(formatBaseline(parseBaseline(text!, 'the page'))).toBe(text);
  });

  it('has the grades that are given', () => {
    const shares: [string, number][] = [
      ['A', 100],
      ['B', 95],
      ['C', 85],
      ['D', 70],
      ['F', 69],
    ];
    for (const [letter, share] of shares) {
      expect(gradeOf([...some(share, 'pass'), ...some(100 - share, 'fail'), warning]).letter).toBe(letter);
      expect(page).toMatch(
        new RegExp(`\n\\| ${letter} +\\| .*${share < 100 && share > 69 ? `${share} %` : ''}`),
      );
    }
  });

  it('uses options that there are', () => {
    const lines = blocks('yaml')
      .join('\n')
      .split('\n')
      .filter((line) => line.includes('npx isthmus check '));
    expect(lines.length).toBe(2);
    const used = [...page.matchAll(/(?<=[\s`])--[a-z][a-z-]+/g)].map(([option]) => option);
    expect(used.length).toBeGreaterThan(15);
    expect(used.filter((option) => !OPTIONS.includes(option))).toEqual([]);
  });

  it('uploads the files that the workflow writes, also when the check fails', () => {
    const [workflow] = blocks('yaml');
    const steps = workflow!.split(/^ {6}- /m).slice(1);
    const check = steps.find((step) => step.includes('npx isthmus check'))!;
    const upload = steps.find((step) => step.includes('codeql-action/upload-sarif@'))!;
    const sarif = /--sarif (\S+)/.exec(check)![1]!;
    expect(upload).toContain(`sarif_file: ${sarif}\n`);
    expect(upload).toContain(`hashFiles('${sarif}')`);
    for (const step of steps.slice(steps.indexOf(check) + 1)) expect(step).toContain('if: ${{ !cancelled()');
    expect(workflow).toContain('security-events: write\n');
  });

  it('has YAML without tabs and with even steps of indentation', () => {
    for (const text of blocks('yaml')) {
      let before = 0;
      for (const line of text.split('\n').filter(Boolean)) {
        const indent = /^ */.exec(line)![0].length;
        expect([line.includes('\t'), indent % 2, indent - before <= 4]).toEqual([false, 0, true]);
        before = indent;
      }
    }
  });
});

const OPTIONS = checkCommand(undefined).options.map(({ long }) => long);

const warning = aFinding({ level: 'SHOULD', outcome: 'warn' });

function some(count: number, outcome: Finding['outcome']): Finding[] {
  return Array.from({ length: count }, () => aFinding({ outcome }));
}

function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, text]) => text!);
}
