import { describe, expect, it } from 'vitest';
import { EvictingSlots } from '../../src/async/evicting-slots.js';

describe('evicting slots', () => {
  it('take what fits, and count it by client', () => {
    const places = new EvictingSlots<string>(3);
    expect([places.add('a', 'a1'), places.add('a', 'a2'), places.add('b', 'b1')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([places.size, places.countOf('a'), places.countOf('b'), places.countOf('c')]).toEqual([
      3, 2, 1, 0,
    ]);
  });

  it('evict the oldest item of the client that has most', () => {
    const places = new EvictingSlots<string>(3);
    for (const item of ['a1', 'a2']) places.add('a', item);
    places.add('b', 'b1');
    expect(places.add('c', 'c1')).toBe('a1');
    expect([...places.values()]).toEqual(['a2', 'b1', 'c1']);
  });

  it('evict an item of the newcomer if that has most', () => {
    const places = new EvictingSlots<string>(3);
    places.add('b', 'b1');
    const lost = Array.from({ length: 10 }, (_, at) => places.add('a', `a${at}`));
    expect(lost).toEqual([undefined, undefined, 'a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7']);
    expect([...places.values()]).toEqual(['b1', 'a8', 'a9']);
  });

  it('evict no item for a client that has as many', () => {
    const places = new EvictingSlots<string>(2);
    places.add('a', 'a1');
    places.add('b', 'b1');
    expect(places.add('c', 'c1')).toBe('c1');
    expect(places.add('b', 'b2')).toBe('b1');
    expect([...places.values()]).toEqual(['a1', 'b2']);
  });

  it('return the added item if there are no slots', () => {
    const places = new EvictingSlots<string>(0);
    expect(places.add('a', 'a1')).toBe('a1');
    expect(places.size).toBe(0);
  });

  it('forget a client with its last item', () => {
    const places = new EvictingSlots<string>(1);
    places.add('a', 'a1');
    expect([places.delete('a1'), places.delete('a1')]).toEqual([true, false]);
    expect([places.size, places.countOf('a'), places.has('a1')]).toEqual([0, 0, false]);
    expect(places.add('b', 'b1')).toBeUndefined();
  });
});
