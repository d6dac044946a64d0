import { describe, expect, it } from 'vitest';
import { LateResult, type ResultListener } from '../../src/exchange/late-result.js';

function recorder(name: string, told: string[]): ResultListener {
  return {
    complete: (result) => told.push(`${name}: ${JSON.stringify(result)}`),
    fail: (error) => told.push(`${name} failed: ${String(error)}`),
  };
}

describe('a late result', () => {
  it('tells its observers in their order, and then its listener, in the same turn', () => {
    const told: string[] = [];
    const late = new LateResult();
    late.deliverTo(recorder('listener', told));
    late.observe(recorder('first', told));
    late.observe(recorder('second', told));
    late.observe(recorder('third', told));
    late.complete({ a: 1 });
    expect(told).toEqual(['first: {"a":1}', 'second: {"a":1}', 'third: {"a":1}', 'listener: {"a":1}']);
  });

  it('tells those who come after it at once', () => {
    const told: string[] = [];
    const late = new LateResult();
    late.complete({ a: 1 });
    late.observe(recorder('observer', told));
    late.deliverTo(recorder('listener', told));
    expect(told).toEqual(['observer: {"a":1}', 'listener: {"a":1}']);
  });

  it('has one outcome, the first', () => {
    const told: string[] = [];
    const late = new LateResult();
    late.deliverTo(recorder('listener', told));
    late.fail('gone');
    late.fail('gone again');
    late.complete({ a: 1 });
    expect(told).toEqual(['listener failed: gone']);
  });

  it('fails with the changed error, whether it failed before or after the change was set', () => {
    const told: string[] = [];
    const before = new LateResult();
    before.fail('gone');
    const after = new LateResult();
    for (const [name, late] of Object.entries({ before, after })) {
      late.changeError((error) => `${String(error)}, and why`);
      late.observe(recorder(`${name} observer`, told));
      late.deliverTo(recorder(`${name} listener`, told));
    }
    after.fail('lost');
    expect(told).toEqual([
      'before observer failed: gone, and why',
      'before listener failed: gone, and why',
      'after observer failed: lost, and why',
      'after listener failed: lost, and why',
    ]);
  });

  it('fails for a listener that cannot take the result, so that its request is answered', () => {
    const told: string[] = [];
    const late = new LateResult();
    late.deliverTo({
      complete: () => {
        throw 'cannot be written';
      },
      fail: (error) => told.push(String(error)),
    });
    late.complete({ a: 1 });
    expect(told).toEqual(['cannot be written']);
  });

  it('can be awaited, more than once', async () => {
    const late = new LateResult();
    const both = Promise.all([late, late]);
    late.complete({ a: 1 });
    expect(await both).toEqual([{ a: 1 }, { a: 1 }]);
    const failed = new LateResult();
    failed.fail(new Error('gone'));
    await expect(failed).rejects.toThrow('gone');
  });
});
