import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdMap } from '../../src/exchange/id-map.js';
import type { RequestId } from '../../src/wire/json-rpc.js';

describe('a map by request id', () => {
  it('keeps numbers and strings apart', () => {
    const map = new IdMap<string>();
    map.set(1, 'number');
    map.set('1', 'string');
    map.set('#1', 'sign');
    expect([map.get(1), map.get('1'), map.get('#1'), map.get('"1')]).toEqual([
      'number',
      'string',
      'sign',
      undefined,
    ]);
    expect(map.delete('1')).toBe(true);
    expect(map.values()).toEqual(['number', 'sign']);
  });

  it('keeps numbers that are far apart, and names of members of objects', () => {
    const map = new IdMap<number>();
    const ids: RequestId[] = [
      0,
      2 ** 32,
      2 ** 33,
      -1,
      2 ** 53 - 1,
      -(2 ** 53) + 1,
      '__proto__',
      'constructor',
      '',
    ];
    for (const [at, id] of ids.entries()) map.set(id, at);
    expect(ids.map((id) => map.get(id))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(map.values()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(ids.map((id) => map.delete(id))).toEqual(ids.map(() => true));
    expect([map.size, map.values()]).toEqual([0, []]);
    expect(map.has('toString')).toBe(false);
  });

  it('holds more than its largest table', () => {
    const map = new IdMap<number>();
    for (let id = 0; id < 5000; id += 1) map.set(id, id);
    expect(map.size).toBe(5000);
    expect(map.get(4999)).toBe(4999);
    for (let id = 0; id < 5000; id += 1) expect(map.delete(id)).toBe(true);
    expect([map.size, map.has(17)]).toEqual([0, false]);
  });

  it('does what a Map does', () => {
    const id = fc.oneof(
      fc.integer({ min: 0, max: 40 }),
      // These have the same low bits.
      fc.integer({ min: 0, max: 9 }).map((times) => times * 4096),
      fc.constantFrom('a', '0', '1', '#1'),
    );
    const step = fc.tuple(fc.constantFrom('set', 'delete', 'get'), id);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const map = new IdMap<number>();
        const model = new Map<RequestId, number>();
        for (const [at, [what, key]] of steps.entries()) {
          if (what === 'set') {
            map.set(key, at);
            model.set(key, at);
          } else if (what === 'delete') expect(map.delete(key)).toBe(model.delete(key));
          else expect([map.get(key), map.has(key)]).toEqual([model.get(key), model.has(key)]);
          expect(map.size).toBe(model.size);
        }
        expect(map.values()).toEqual([...model.values()]);
      }),
    );
  });
});
