import { countLost, renderThrough } from 'isthmus/internal/check/through.js';
import { createStyle } from 'isthmus/internal/terminal/terminal.js';
import { describe, expect, it } from 'vitest';
import type { Difference } from '../../../check/src/through/differences.js';
import { aReport } from '../../../check/test/support/report/sample-report.js';

const terminal = { width: 56, out: createStyle(false, {}) };

describe('differences at the terminal', () => {
  it('come the worst first, each with both sides', () => {
    const report = through([
      { kind: 'better', about: 'era modern', era: 'modern', direct: 'is not spoken', through: 'is' },
      { kind: 'other', about: 'server', direct: 'version: "1"', through: 'version: "2"' },
      {
        kind: 'worse',
        about: 'tools/call\u001b echo',
        era: 'legacy',
        direct: 'a long answer that does not fit into the line',
        through: '"no answer"',
      },
    ]);
    expect(renderThrough(report, terminal)).toBe(
      [
        'node weather.js through proxy',
        '',
        'Worse through the bridge (1)',
        '',
        '  tools/call‹U+001B› echo (legacy)',
        '    directly  a long answer that does not fit into the',
        '              line',
        '    through   "no answer"',
        '',
        'Not the same through the bridge (1)',
        '',
        '  server',
        '    directly  version: "1"',
        '    through   version: "2"',
        '',
        'Better through the bridge (1)',
        '',
        '  era modern (modern)',
        '    directly  is not spoken',
        '    through   is',
        '',
        '2 differences (directly D, through the bridge D).',
        '',
      ].join('\n'),
    );
    expect(countLost(report)).toBe(2);
  });

  it('are none where nothing is lost', () => {
    expect(renderThrough(through([]), terminal)).toBe(
      'node weather.js through proxy\n\nNothing is lost through the bridge (directly D, through the bridge D).\n',
    );
  });
});

function through(differences: readonly Difference[]) {
  const report = aReport({ grade: { letter: 'D', must: 70, should: 100, why: '' } });
  return {
    direct: report,
    through: { ...report, target: { label: 'proxy', transport: 'http' as const } },
    differences,
  };
}
