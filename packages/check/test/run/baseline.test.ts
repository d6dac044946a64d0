import { describe, expect, it } from 'vitest';
import {
  type Accepted,
  applyBaseline,
  type Baseline,
  formatBaseline,
  parseBaseline,
  updateBaseline,
} from '../../src/run/baseline.js';
import { aFinding, sampleFindings } from '../support/report/sample-report.js';

const broken = aFinding({ id: 'a/b', era: 'modern', outcome: 'fail' });
const brokenInLegacy = aFinding({ id: 'a/b', era: 'legacy', outcome: 'fail' });
const held = aFinding({ id: 'a/b', era: 'modern' });

describe('a baseline', () => {
  it('marks the failures that it knows, in the era that it names', () => {
    const { findings, stale } = applyBaseline(
      [broken, brokenInLegacy],
      baseline({ check: 'a/b', era: 'modern' }),
    );
    expect(findings.map(({ accepted }) => accepted)).toEqual([true, undefined]);
    expect(stale).toEqual([]);
  });

  it('marks them in both eras when it names none', () => {
    const { findings } = applyBaseline([broken, brokenInLegacy], baseline({ check: 'a/b' }));
    expect(findings.map(({ accepted }) => accepted)).toEqual([true, true]);
  });

  it('marks warnings too, and neither what passes nor what could not be finished', () => {
    const findings = (['warn', 'pass', 'error', 'skip'] as const).map((outcome) =>
      aFinding({ id: 'a/b', outcome }),
    );
    expect(
      applyBaseline(findings, baseline({ check: 'a/b' })).findings.map(({ accepted }) => accepted),
    ).toEqual([true, undefined, undefined, undefined]);
  });

  it('is stale where a failure was fixed', () => {
    expect(applyBaseline([held], baseline({ check: 'a/b', era: 'modern' })).stale).toEqual([
      'a/b (modern) holds now: remove it from the baseline',
    ]);
  });

  it('is stale where a check does not apply any more', () => {
    const skipped = aFinding({ id: 'a/b', outcome: 'skip', seen: 'there are no tools' });
    expect(applyBaseline([skipped], baseline({ check: 'a/b' })).stale).toEqual([
      'a/b no longer applies (there are no tools)',
    ]);
  });

  it('is stale where a check did not run', () => {
    expect(applyBaseline([held], baseline({ check: 'a/c' })).stale).toEqual([
      'a/c did not run: it does not apply to this target',
    ]);
    expect(applyBaseline([brokenInLegacy], baseline({ check: 'a/b', era: 'modern' })).stale).toEqual([
      'a/b (modern) did not run: it does not apply to this target',
    ]);
  });

  it('is not stale while one of the eras still fails', () => {
    expect(applyBaseline([held, brokenInLegacy], baseline({ check: 'a/b' })).stale).toEqual([]);
  });

  it('is not stale where the check could not be finished: nothing is known', () => {
    expect(applyBaseline([{ ...held, outcome: 'error' }], baseline({ check: 'a/b' })).stale).toEqual([]);
  });

  it('is not stale outside of the checks that were chosen', () => {
    const scope = { chosen: new Set(['x/y']), known: new Set(['a/b', 'x/y']) };
    expect(applyBaseline([], baseline({ check: 'a/b' }), scope).stale).toEqual([]);
  });

  it('is stale for a check that does not exist, whatever was chosen', () => {
    const scope = { chosen: new Set(['x/y']), known: new Set(['a/b', 'x/y']) };
    expect(applyBaseline([], baseline({ check: 'a/typo' }), scope).stale).toEqual([
      'a/typo is not a check: correct its name, or remove it from the baseline',
    ]);
  });

  it('is not stale in an era that was left out', () => {
    const scope = { eras: new Set(['modern'] as const) };
    expect(applyBaseline([held], baseline({ check: 'a/b', era: 'legacy' }), scope).stale).toEqual([]);
    expect(applyBaseline([held], baseline({ check: 'a/b' }), scope).stale).toEqual([]);
    expect(applyBaseline([held], baseline({ check: 'a/b', era: 'modern' }), scope).stale).toEqual([
      'a/b (modern) holds now: remove it from the baseline',
    ]);
    const everywhere = aFinding({ id: 'a/b', era: undefined });
    expect(applyBaseline([everywhere], baseline({ check: 'a/b' }), scope).stale).toEqual([
      'a/b holds now: remove it from the baseline',
    ]);
  });
});

describe('an updated baseline', () => {
  it('has what fails the run', () => {
    expect(updateBaseline(sampleFindings())).toEqual({
      version: 1,
      accepted: [
        { check: 'stdio/answers-what-is-not-json', era: 'modern' },
        { check: 'tools/input-schema-is-valid', era: 'modern' },
      ],
    });
  });

  it('has warnings, too, when they fail the run', () => {
    expect(updateBaseline(sampleFindings(), { failOn: 'should' }).accepted.map(({ check }) => check)).toEqual(
      ['stdio/answers-what-is-not-json', 'tools/describes-every-tool', 'tools/input-schema-is-valid'],
    );
  });

  it('keeps notes and what was not chosen, and drops what is stale', () => {
    const previous = baseline(
      { check: 'a/b', note: 'see issue 7' },
      { check: 'fixed/long-ago', era: 'legacy' },
      { check: 'x/y' },
    );
    const fixed = aFinding({ id: 'fixed/long-ago', era: 'legacy' });
    const chosen = new Set(['a/b', 'fixed/long-ago']);
    expect(updateBaseline([broken, brokenInLegacy, fixed], { previous, chosen }).accepted).toEqual([
      { check: 'a/b', note: 'see issue 7' },
      { check: 'x/y' },
    ]);
  });

  it('makes the same run green', () => {
    const next = updateBaseline(sampleFindings(), { failOn: 'should' });
    const { findings, stale } = applyBaseline(sampleFindings(), next);
    expect(stale).toEqual([]);
    expect(
      findings.filter(({ outcome, accepted }) => ['fail', 'warn'].includes(outcome) && !accepted),
    ).toEqual([]);
  });
});

describe('a baseline file', () => {
  it('is written an entry a line, and read again', () => {
    const written = baseline({ check: 'a/b', era: 'modern', note: 'see "7"' }, { check: 'c/d' });
    const text = formatBaseline(written);
    expect(text).toBe(
      [
        '{',
        '  "version": 1,',
        '  "accepted": [',
        '    { "check": "a/b", "era": "modern", "note": "see \\"7\\"" },',
        '    { "check": "c/d" }',
        '  ]',
        '}',
        '',
      ].join('\n'),
    );
    expect(parseBaseline(text, 'b.json')).toEqual(written);
    expect(parseBaseline(`\uFEFF${text}`, 'b.json')).toEqual(written);
    expect(formatBaseline(baseline())).toBe('{\n  "version": 1,\n  "accepted": []\n}\n');
  });

  it.each([
    ['', 'The baseline b.json is not JSON: it is empty; --update-baseline writes a new one'],
    ['[]', 'The baseline b.json is not an object with "version" and "accepted"'],
    ['{"accepted":[]}', 'The baseline b.json has "version" missing; this program reads version 1'],
    ['{"version":2,"accepted":[]}', 'The baseline b.json has "version" 2; this program reads version 1'],
    ['{"version":1,"accepted":{}}', 'The baseline b.json has "accepted" {}; it is a list'],
    [
      '{"version":1,"accepted":["a/b"]}',
      'The baseline b.json has a wrong entry: accepted[0] is "a/b"; an entry is an object such as {"check": "area/what-is-right"}',
    ],
    [
      '{"version":1,"accepted":[{"check":"a/b"},{"check":7}]}',
      'The baseline b.json has a wrong entry: accepted[1] has "check" 7; it is the id of a check',
    ],
    [
      '{"version":1,"accepted":[{"check":"a/b","era":"old"}]}',
      'The baseline b.json has a wrong entry: accepted[0] has "era" "old"; it is "modern" or "legacy", or left out',
    ],
    [
      '{"version":1,"accepted":[{"check":"a/b","note":1}]}',
      'The baseline b.json has a wrong entry: accepted[0] has "note" 1; it is a text',
    ],
    [
      '{"version":1,"accepted":[{"check":"a/b","reason":"x"}]}',
      'The baseline b.json has a wrong entry: accepted[0] has "reason"; it may have "check", "era" and "note"',
    ],
    ['{"version":1,"accepted":[{"check":"a/b"},{"check":"a/b"}]}', 'The baseline b.json names a/b twice'],
  ])('that is %j is refused', (text, message) => {
    expect(() => parseBaseline(text, 'b.json')).toThrowError(
      expect.objectContaining({ code: 'INVALID_OPTION', message }),
    );
  });

  it('that is cut off says so', () => {
    expect(() => parseBaseline('{"version":1,', 'b.json')).toThrow(/^The baseline b\.json is not JSON: /);
  });
});

function baseline(...accepted: Accepted[]): Baseline {
  return { version: 1, accepted };
}
