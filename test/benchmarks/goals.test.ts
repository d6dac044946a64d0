/** The pure parts of the benchmarks: medians, goals, the exit status of --check, and the table of README.md. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { median, medianOf, pairedRatio, ratio } from '../../benchmarks/lib/statistics.js';
import {
  exitStatus,
  failing,
  renderCheck,
  renderMarkdown,
  renderVerdicts,
  verdict,
} from '../../benchmarks/lib/verdicts.js';
import { MODES } from '../../benchmarks/modes/index.js';

const BOTH = ['modern', 'legacy'] as const;

describe('statistics', () => {
  it('takes the middle value, or the mean of the two in the middle', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([9, 1, 5, 7])).toBe(6);
  });

  it('leaves out the rounds of which nothing is known', () => {
    expect(medianOf([3, undefined, 1, 2], (value) => value)).toBe(2);
    expect(medianOf([undefined], (value) => value)).toBeUndefined();
    expect(medianOf(undefined, () => 1)).toBeUndefined();
  });

  it('compares neighbours: a noisy round does not change the ratio', () => {
    const rounds = (values: number[]) => values.map((cpu) => ({ cpu }));
    const [ours, theirs] = [rounds([20, 400, 20]), rounds([10, 200, 10])];
    expect(pairedRatio(ours, theirs, ({ cpu }) => cpu)).toBe(2);
    expect(pairedRatio(ours, undefined, ({ cpu }) => cpu)).toBeUndefined();
  });

  it('has no ratio to nothing', () => {
    expect(ratio(1, 0)).toBeUndefined();
    expect(ratio(undefined, 2)).toBeUndefined();
  });
});

describe('a goal', () => {
  const goal = { mode: 'http', what: 'CPU', where: '32 connections', limit: 1.2, unit: 'x' } as const;

  it('is met up to its limit', () => {
    expect(verdict({ ...goal, value: 1.2 }).state).toBe('met');
    expect(verdict({ ...goal, value: 1.21 }).state).toBe('missed');
  });

  it('is unmeasured without a number', () => {
    expect(verdict({ ...goal, value: undefined }).state).toBe('unmeasured');
    expect(verdict({ ...goal, value: Number.NaN }).state).toBe('unmeasured');
  });

  it('names what the limit itself has only where that misses the goal', () => {
    expect(verdict({ ...goal, value: 2, bare: 1.3 }).bare).toBe(1.3);
    expect(verdict({ ...goal, value: 2, bare: 1.1 }).bare).toBeUndefined();
  });

  it('shows in the table what the limit itself has', () => {
    const table = renderMarkdown([verdict({ ...goal, value: 2, bare: 1.3 })]);
    expect(table.split('\n')[2]).toBe(
      '| http | CPU | 32 connections | at most 1.20x | 2.00x | missed (the limit itself: 1.30x) |',
    );
  });

  it('fails a check when it is required and not met; a watched goal does not', () => {
    const met = verdict({ ...goal, value: 1 });
    const missed = verdict({ ...goal, value: 2 });
    const watched = verdict({ ...goal, value: 2, required: false });
    const unmeasured = verdict(goal);
    expect(failing([met, missed, watched, unmeasured])).toEqual([missed, unmeasured]);
    expect(exitStatus({ check: true, failed: false, verdicts: [met, watched] })).toBe(0);
    expect(exitStatus({ check: true, failed: false, verdicts: [missed] })).toBe(1);
    expect(exitStatus({ check: true, failed: false, verdicts: [unmeasured] })).toBe(1);
    expect(exitStatus({ check: false, failed: false, verdicts: [missed] })).toBe(0);
    expect(exitStatus({ check: false, failed: true, verdicts: [met] })).toBe(1);
  });

  it('is shown in its own unit', () => {
    const share = verdict({ ...goal, what: 'CPU against v2', limit: 1 / 12, unit: 'share', value: 1 / 8 });
    const start = verdict({ ...goal, mode: 'start', what: 'first answer', limit: 45, unit: 'ms' });
    expect(renderVerdicts([share])).toContain('CPU against v2: 1/8, at most 1/12: 32 connections');
    expect(renderCheck([share, verdict({ ...goal, value: 1 })])).toBe(
      'Check: 1 of 2 required goals are not met:\n  MISSED  http: CPU against v2: 1/8, at most 1/12: 32 connections',
    );
    expect(renderMarkdown([share, start])).toBe(
      [
        '| mode | goal | where | limit | measured | verdict |',
        '| --- | --- | --- | --- | --- | --- |',
        '| http | CPU against v2 | 32 connections | at most 1/12 | 1/8 | missed |',
        '| start | first answer | 32 connections | at most 45.0 ms | not measured yet |  |',
      ].join('\n'),
    );
  });
});

describe('the modes', () => {
  const goals = MODES.flatMap((mode) => mode.judge({ eras: BOTH, upstreams: BOTH }));

  it('name all their goals before anything is measured', () => {
    expect(goals.every(({ state }) => state === 'unmeasured')).toBe(true);
    const names = goals.map(({ mode, what, where }) => `${mode}: ${what}: ${where}`);
    expect(new Set(names).size).toBe(names.length);
    const modes = new Set(goals.filter(({ required }) => required).map(({ mode }) => mode));
    expect([...modes]).toEqual(['stdio', 'http', 'clients', 'bridge', 'start', 'memory', 'aggregate']);
  });

  it('have every required goal in benchmarks/README.md, with its limit', () => {
    const readme = readFileSync(new URL('../../benchmarks/README.md', import.meta.url), 'utf8');
    const rows = renderMarkdown(goals.filter(({ required }) => required))
      .split('\n')
      .slice(2);
    const missing = rows
      .map((row) => row.split(' | ').slice(0, 4).join(' | '))
      .filter((start) => !readme.includes(start));
    expect(missing).toEqual([]);
  });
});
