import { describe, expect, it } from 'vitest';
import type { Finding, Level, Outcome } from '../../src/model.js';
import { toJunit } from '../../src/report/junit.js';
import { countsOf, gradeOf, verdictOf } from '../../src/run/grade.js';
import { aFinding, aReport, sampleFindings } from '../support/report/sample-report.js';

describe('the grade', () => {
  it('is A+ when every MUST and SHOULD that applies holds', () => {
    expect(
      gradeOf([...some(3, 'MUST', 'pass'), ...some(2, 'SHOULD', 'pass'), ...some(5, 'MUST', 'skip')]),
    ).toEqual({
      letter: 'A+',
      must: 100,
      should: 100,
      why: 'All 3 MUST that apply hold, and so do all 2 SHOULD.',
    });
  });

  it('is A when only a SHOULD is broken', () => {
    expect(
      gradeOf([...some(3, 'MUST', 'pass'), ...some(3, 'SHOULD', 'pass'), ...some(1, 'SHOULD', 'warn')]),
    ).toEqual({
      letter: 'A',
      must: 100,
      should: 75,
      why: 'All 3 MUST that apply hold; 1 of 4 SHOULD does not, and A+ needs all of them.',
    });
  });

  it.each([
    [99, 1, 'B', 99, '1 of 100 MUST that apply is broken (99 % hold); A needs all of them.'],
    [95, 5, 'B', 95, '5 of 100 MUST that apply are broken (95 % hold); A needs all of them.'],
    [94, 6, 'C', 94, '6 of 100 MUST that apply are broken (94 % hold); B needs 95 %.'],
    [85, 15, 'C', 85, '15 of 100 MUST that apply are broken (85 % hold); B needs 95 %.'],
    [84, 16, 'D', 84, '16 of 100 MUST that apply are broken (84 % hold); C needs 85 %.'],
    [70, 30, 'D', 70, '30 of 100 MUST that apply are broken (70 % hold); C needs 85 %.'],
    [69, 31, 'F', 69, '31 of 100 MUST that apply are broken (69 % hold); D needs 70 %.'],
    [0, 2, 'F', 0, '2 of 2 MUST that apply are broken (0 % hold); D needs 70 %.'],
  ])('of %i MUST that hold and %i that do not is %s', (held, broken, letter, must, why) => {
    expect(gradeOf([...some(held, 'MUST', 'pass'), ...some(broken, 'MUST', 'fail')])).toEqual({
      letter,
      must,
      should: 100,
      why,
    });
  });

  it('never says 100 % when one of thousands is broken', () => {
    expect(gradeOf([...some(9999, 'MUST', 'pass'), ...some(1, 'MUST', 'fail')]).must).toBe(99.9);
  });

  it('counts a check that could not be finished as a broken MUST, even if it was a SHOULD', () => {
    expect(gradeOf([...some(1, 'MUST', 'pass'), ...some(1, 'SHOULD', 'error')])).toEqual({
      letter: 'F',
      must: 50,
      should: 100,
      why: '1 of 2 MUST that apply is broken (50 % hold); D needs 70 %.',
    });
  });

  it('is not made better by a baseline', () => {
    const known = some(1, 'MUST', 'fail').map((finding) => ({ ...finding, accepted: true }));
    expect(gradeOf([...some(9, 'MUST', 'pass'), ...known]).letter).toBe('C');
  });

  it('is F when nothing applied', () => {
    expect(gradeOf(some(4, 'MUST', 'skip'))).toEqual({
      letter: 'F',
      must: 100,
      should: 100,
      why: 'No check applied, so there is nothing to grade.',
    });
  });

  it('is F, and the run does not pass, when the run was interrupted', () => {
    const [findings, interrupted] = [some(4, 'MUST', 'pass'), { done: 4, of: 693 }];
    expect(gradeOf(findings, { interrupted })).toEqual({
      letter: 'F',
      must: 100,
      should: 100,
      why: 'The run was interrupted after 4 of 693 checks, so there is nothing to grade.',
    });
    expect(verdictOf({ counts: countsOf(findings), stale: [], interrupted })).toEqual({
      passed: false,
      reasons: ['the run was interrupted after 4 of 693 checks'],
    });
    expect(toJunit({ ...aReport({ findings }), interrupted })).toContain(
      'name="the run was interrupted after 4 of 693 checks"',
    );
  });

  it('can do without any MUST', () => {
    expect(gradeOf(some(2, 'SHOULD', 'pass')).why).toBe('No MUST applies; all 2 SHOULD hold.');
  });
});

describe('the counts', () => {
  it('count what is accepted for itself', () => {
    expect(countsOf(sampleFindings())).toEqual({ pass: 2, fail: 1, warn: 1, skip: 2, error: 1, accepted: 1 });
  });
});

function some(count: number, level: Level, outcome: Outcome): Finding[] {
  return Array.from({ length: count }, () => aFinding({ level, outcome }));
}
