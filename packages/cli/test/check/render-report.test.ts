import { type RenderOptions, renderReport } from 'isthmus/internal/check/render-report.js';
import { widthOf } from 'isthmus/internal/terminal/table.js';
import { createStyle } from 'isthmus/internal/terminal/terminal.js';
import { describe, expect, it } from 'vitest';
import { hostileReport } from '../../../check/test/support/report/hostile-report.js';
import { aFinding, aReport } from '../../../check/test/support/report/sample-report.js';

const plain = createStyle(false, {});

describe('a report on the terminal', () => {
  it('has failures first, then warnings, the table, the grade and the verdict', () => {
    const report = aReport({ stale: ['a/b holds now: remove it from the baseline'] });
    expect(render(report, 72)).toBe(`node weather.js
  modern  2026-07-28, weather 1.4.0: 7 tools, 2 resources, 0 prompts
          (tools, resources)
  legacy  2025-11-25, weather 1.4.0: 7 tools, 2 resources, 0 prompts
          (tools, resources, logging)
  took    12.3 s for 8 findings; seed 42

What fails (2)

resilience
✗ Answers a line that is not JSON with -32700 (modern)
  seen      The process ended with exit code 1, 8 ms after the line.
  expected  An error -32700 without an id, and a server that lives on.
  rule      JRPC-014 (MUST NOT): A client never emits JSON-RPC responses
            on any transport.
            https://modelcontextprotocol.io/specification/2026-07-28/bas
            ic/transports
            STDIO-009 (MUST NOT): The client writes no JSON-RPC
            responses to stdin in the modern era.
            https://modelcontextprotocol.io/specification/2026-07-28/bas
            ic/transports/stdio
  fix       Catch the error of JSON.parse, answer with -32700, and read
            on.
  input     {"jsonrpc":"2.0","id":1,
  rerun     --only stdio/answers-what-is-not-json --seed 42
  wire
    ·  0 ms  started: node weather.js
    → 12 ms  {"jsonrpc":"2.0","id":1,
    ← 20 ms  exit code 1

lifetime
? Ends on SIGTERM
  seen   spawn EAGAIN
  rule   STDIO-021 (SHOULD): A proxy that spawns stdio servers sandboxes
         them, restricts file access, logs spawning and asks extra
         authorization for risky commands.
         https://modelcontextprotocol.io/docs/tutorials/security/securit
         y_best_practices
  fix    End within two seconds of SIGTERM.
  rerun  --only lifetime/ends-on-sigterm

Warnings (1)

tools
! Describes every tool (legacy)
  seen      The tool "get_forecast" has none.
  expected  A description of at least a few words.
  rule      SHOULD, an opinion of isthmus: the specification has no rule
            for it
  why       A model chooses by the description alone.
  fix       Say in a sentence what the tool does and when to use it.
  rerun     --only tools/describes-every-tool

Accepted by the baseline (1)

tools
~ Has valid input schemas (modern)

Stale in the baseline (1)

✗ a/b holds now: remove it from the baseline

What does not apply (2); see --verbose

  2  http: it is not reached over HTTP

            fail  error  warn  known   n/a  pass
protocol       ·      ·     ·      ·     ·     2
resilience     1      ·     ·      ·     ·     ·
lifetime       ·      1     ·      ·     ·     ·
http           ·      ·     ·      ·     2     ·
tools          ·      ·     1      1     ·     ·
total          1      1     1      1     2     2

Grade F: 3 of 5 MUST that apply are broken (40 % hold); D needs 70 %.
FAILED: 1 MUST is broken, 1 check could not be finished, 1 entry of the
baseline is stale; 1 warning, 1 accepted by the baseline
`);
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

  it('has the first and the last lines of a long conversation', () => {
    const wire = Array.from({ length: 12 }, (_, at) => ({
      from: 'check' as const,
      atMs: at,
      text: `line ${at}`,
    }));
    const report = aReport({ findings: [aFinding({ outcome: 'fail', wire })] });
    expect(render(report, 80)).toContain(
      '  wire; 4 more lines with --verbose\n    →  0 ms  line 0\n    →  1 ms  line 1\n    ·  6 ms  … 4 lines are left out\n    →  6 ms  line 6\n',
    );
    expect(render(report, 80, { verbose: true })).toContain('  wire\n    →  0 ms  line 0\n');
  });

  it('names the check instead of a command where it cannot be repeated by itself', () => {
    const text = render(aReport(), 80, { canRepeat: false });
    expect(text).toContain('  check     stdio/answers-what-is-not-json\n');
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
