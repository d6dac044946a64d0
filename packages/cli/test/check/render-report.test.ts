import { countsOf, gradeOf } from '@isthmus/check/internal/run/grade.js';
import { type RenderOptions, renderReport } from 'isthmus/internal/check/render-report.js';
import { widthOf } from 'isthmus/internal/terminal/table.js';
import { createStyle } from 'isthmus/internal/terminal/terminal.js';
import { describe, expect, it } from 'vitest';
import { hostileReport } from '../../../check/test/support/report/hostile-report.js';
import { aFinding, aReport } from '../../../check/test/support/report/sample-report.js';

const plain = createStyle(false, {});

describe('a report on the terminal', () => {
  it('has the grade first, then failures and warnings in two lines each, and the verdict', () => {
    const report = aReport({ stale: ['a/b holds now: remove it from the baseline'] });
    expect(render(report, 72)).toBe(`Grade F: 3 of 5 MUST that apply are broken (40 % hold); D needs 70 %.

node weather.js
  modern  2026-07-28, weather 1.4.0: 7 tools, 2 resources, 0 prompts
          (tools, resources)
  legacy  2025-11-25, weather 1.4.0: 7 tools, 2 resources, 0 prompts
          (tools, resources, logging)
  took    12.3 s for 8 findings; seed 42

What fails (2)

✗ Answers a line that is not JSON with -32700 (modern)
  stdio/answers-what-is-not-json: The process ended with exit code 1, 8…
? Ends on SIGTERM
  lifetime/ends-on-sigterm: spawn EAGAIN.

Warnings (1)

! Describes every tool (legacy)
  tools/describes-every-tool: The tool "get_forecast" has none.

Accepted by the baseline (1)

~ Has valid input schemas (modern)
  tools/input-schema-is-valid: The schema of "get_alerts" has "type": "…

Stale in the baseline (1)

✗ a/b holds now: remove it from the baseline

2 checks hold, 2 do not apply. --verbose shows rules, messages and all
checks. --only CHECK repeats one (--seed 42: with the same input).

FAILED: 1 MUST is broken, 1 check could not be finished, 1 entry of the
baseline is stale; 1 warning, 1 accepted by the baseline
`);
  });

  it('has no grade, and is not passed, when the run was interrupted', () => {
    const findings = [aFinding(), aFinding()];
    const interrupted = { done: 2, of: 693 };
    const lines = render(
      aReport({
        findings,
        counts: countsOf(findings),
        grade: gradeOf(findings, { interrupted }),
        interrupted,
      }),
      100,
    ).split('\n');
    expect([lines[0], lines.at(-2)]).toEqual([
      'No grade: The run was interrupted after 2 of 693 checks, so there is nothing to grade.',
      'FAILED: the run was interrupted after 2 of 693 checks',
    ]);
  });

  it('lists with --verbose what holds and what does not apply, and why', () => {
    const text = render(aReport(), Number.POSITIVE_INFINITY, { verbose: true });
    expect(text).toContain(`What holds (2)

protocol
✓ Answers ping with an empty result (legacy): an empty result after 2 ms
✓ Names the versions it supports in server/discover (modern): 2026-07-28

What does not apply (2)

http
– Refuses requests of foreign origins with 403: it is not reached over HTTP
– Answers GET with a stream or with 405: it is not reached over HTTP
`);
  });

  it('ends with PASSED, and what it passed with', () => {
    const last = (options: RenderOptions, ...more: Parameters<typeof aFinding>[0][]) =>
      render(aReport({ findings: [aFinding(), ...more.map(aFinding)] }), 80, options)
        .trimEnd()
        .split('\n')
        .at(-1);
    expect(last({})).toBe('PASSED');
    const warning = { level: 'SHOULD', outcome: 'warn' } as const;
    expect(last({}, warning, { outcome: 'fail', accepted: true })).toBe(
      'PASSED, with 1 warning, 1 accepted by the baseline',
    );
    expect(last({ failOn: 'should' }, warning)).toBe('FAILED: 1 SHOULD is broken');
    expect(last({}, { outcome: 'error' })).toBe('FAILED: 1 check could not be finished');
  });

  it('has all messages of a finding with --verbose only', () => {
    const wire = Array.from({ length: 12 }, (_, at) => ({
      from: 'check' as const,
      atMs: at,
      text: `line ${at}`,
    }));
    const report = aReport({ findings: [aFinding({ outcome: 'fail', wire })] });
    expect(render(report, 80)).not.toContain('line 0');
    const verbose = render(report, 80, { verbose: true });
    expect(verbose).toContain('  wire\n    →  0 ms  line 0\n');
    expect(verbose).toContain('    → 11 ms  line 11\n');
  });

  it('merges what fails in both eras', () => {
    const failing = {
      outcome: 'fail',
      id: 'a/b',
      title: 'Is good',
      seen: 'It is bad',
      hint: 'Be good.',
    } as const;
    const findings = [aFinding({ ...failing, era: 'modern' }), aFinding({ ...failing, era: 'legacy' })];
    expect(render(aReport({ findings }), 80)).toContain(
      'What fails (1)\n\n✗ Is good (modern, legacy)\n  a/b: It is bad. Fix: Be good.\n',
    );
  });

  it('names the check instead of a command where it cannot be repeated by itself', () => {
    const text = render(aReport(), 80, { canRepeat: false });
    expect(text).toContain('\n  stdio/answers-what-is-not-json: ');
    const verbose = render(aReport(), 80, { canRepeat: false, verbose: true });
    expect(verbose).toContain('  check     stdio/answers-what-is-not-json\n');
    expect(text).not.toContain('--only');
  });

  it.each([40, 60, 100])('keeps to %i columns, whatever a server says', (width) => {
    const lines = render(hostileReport(), width).split('\n');
    expect(lines.filter((line) => widthOf(line) > width)).toEqual([]);
    expect(lines.length).toBeLessThan(600);
  });

  it('lets nothing through that moves a cursor, and not a megabyte', () => {
    for (const verbose of [true, false]) {
      const text = render(hostileReport(), Number.POSITIVE_INFINITY, { verbose });
      expect(text).not.toMatch(/[^\P{Cc}\n]|[\u200b\u202e\u2066]/u);
      expect(text.length).toBeLessThan(200_000);
    }
  });

  it('has colours where they are wanted', () => {
    const text = renderReport(aReport(), { width: 80, out: createStyle(true, {}) });
    expect(text).toContain(
      '\u001b[31m✗\u001b[39m \u001b[1mAnswers a line that is not JSON with -32700 (modern)\u001b[22m',
    );
    expect(text).toContain('\u001b[1m\u001b[31mFAILED: ');
    const none = renderReport(aReport(), { width: 80, out: createStyle(true, { NO_COLOR: '1' }) });
    expect(none).not.toContain('\u001b');
  });
});

function render(report: Parameters<typeof renderReport>[0], width: number, options?: RenderOptions): string {
  return renderReport(report, { width, out: plain }, options);
}
