import { describe, expect, it } from 'vitest';
import { QuestionHistory } from '../../../../src/era/legacy/attribution/question-history.js';

describe('asking habits', () => {
  it('know nothing of a server that never asked', () => {
    const habits = new QuestionHistory();
    expect(habits.isEmpty).toBe(true);
    expect(habits.asks('x')).toBe(false);
    expect(habits.surelyAsks('x')).toBe(false);
    expect(habits.asksAgain('x')).toBe(false);
    expect(habits.asksSeveral('x')).toBe(false);
  });

  it('keep what has asked beyond doubt for ever, however often it does not ask', () => {
    const habits = new QuestionHistory();
    habits.hasAsked('x', true);
    for (let times = 0; times < 100; times += 1) habits.exonerate('x');
    expect(habits.asks('x')).toBe(true);
    expect(habits.surelyAsks('x')).toBe(true);
    expect(habits.isEmpty).toBe(false);
  });

  it('drop a suspicion when it ran alone three times without asking', () => {
    const habits = new QuestionHistory();
    habits.hasAsked('x', false);
    habits.exonerate('x');
    habits.exonerate('x');
    expect(habits.asks('x')).toBe(true);
    habits.exonerate('x');
    expect(habits.asks('x')).toBe(false);
    expect(habits.isEmpty).toBe(true);
  });

  it('count anew from each suspicion, and do not add them up', () => {
    const habits = new QuestionHistory();
    for (let times = 0; times < 10; times += 1) habits.hasAsked('x', false);
    habits.exonerate('x');
    habits.exonerate('x');
    habits.hasAsked('x', false);
    habits.exonerate('x');
    habits.exonerate('x');
    expect(habits.asks('x')).toBe(true);
    habits.exonerate('x');
    expect(habits.asks('x')).toBe(false);
  });

  it('do not take a certainty back for a later suspicion', () => {
    const habits = new QuestionHistory();
    habits.hasAsked('x', true);
    habits.hasAsked('x', false);
    expect(habits.surelyAsks('x')).toBe(true);
  });

  it('call no suspicion a certainty, until it is one', () => {
    const habits = new QuestionHistory();
    habits.hasAsked('x', false);
    expect(habits.surelyAsks('x')).toBe(false);
    habits.hasAsked('x', true);
    expect(habits.surelyAsks('x')).toBe(true);
  });

  it('forgive what was never suspected', () => {
    const habits = new QuestionHistory();
    habits.exonerate('x');
    expect(habits.isEmpty).toBe(true);
  });

  it('know those who ask again from those who ask several questions at once, and each by its name', () => {
    const habits = new QuestionHistory();
    habits.hasAskedAgain('again');
    habits.hasAskedSeveral('several');
    expect([habits.asksAgain('again'), habits.asksSeveral('again')]).toEqual([true, false]);
    expect([habits.asksAgain('several'), habits.asksSeveral('several')]).toEqual([false, true]);
  });
});
