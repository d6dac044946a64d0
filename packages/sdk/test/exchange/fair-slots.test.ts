import { describe, expect, it } from 'vitest';
import { FairSlots, type TakenSlot } from '../../src/exchange/fair-slots.js';

const of = (who: string, part?: unknown) => ({ who, part });

/** Takes places until there is none for this client. */
function takeAll(places: FairSlots, who: string, part?: unknown): TakenSlot[] {
  const taken: TakenSlot[] = [];
  for (;;) {
    const place = places.take(of(who, part));
    if (typeof place === 'string') return taken;
    taken.push(place);
  }
}

describe('slots that cannot be taken back', () => {
  it('leave a quarter free when one client takes all it can in many sessions', () => {
    const places = new FairSlots(1024);
    for (let session = 0; session < 1024; session += 1) takeAll(places, 'a', session);
    expect(places.heldBy('a')).toBe(768);
    expect(places.take(of('a', 'one more'))).toBe('share');
    expect(places.take(of('b'))).toMatchObject({ held: 1 });
  });

  it('leave room for another session of the same client', () => {
    const places = new FairSlots(1024);
    expect(takeAll(places, 'a', 1)).toHaveLength(576);
    expect(takeAll(places, 'a', 2).length).toBeGreaterThan(50);
  });

  it('leave a slot for a newcomer while eleven others want all of them', () => {
    const places = new FairSlots(256);
    for (let round = 0; round < 256; round += 1) {
      for (let client = 0; client < 11; client += 1) places.take(of(`client ${client}`, round));
    }
    expect([places.heldBy('client 0'), places.heldBy('client 10')]).toEqual([23, 22]);
    expect(places.take(of('newcomer'))).toMatchObject({ held: 1 });
  });

  it('are all for one client where there are fewer than four', () => {
    const places = new FairSlots(3);
    expect(takeAll(places, 'a')).toHaveLength(3);
    expect(places.take(of('b'))).toBe('full');
  });

  it('are taken above the limit by requests that others wait for', () => {
    const places = new FairSlots(1);
    takeAll(places, 'a');
    const place = places.takeAnyway(of('b'));
    expect(places.taken).toBe(2);
    places.release(place);
    expect(places.taken).toBe(1);
  });

  it('can be taken again after they were given back', () => {
    const places = new FairSlots(8);
    const taken = takeAll(places, 'a');
    expect(places.take(of('a'))).toBe('share');
    places.release(taken[0]!);
    expect(places.take(of('a'))).toMatchObject({ held: 5 });
  });

  it('can be taken several at once, all or none', () => {
    const places = new FairSlots(100);
    expect(places.take(of('a'), 58)).toBe('share');
    const taken = places.take(of('a'), 57) as TakenSlot;
    expect([taken.held, places.taken, places.take(of('a'))]).toEqual([57, 57, 'share']);
    expect(places.take(of('b'), 44)).toBe('full');
    places.release(taken, 57);
    expect(places.taken).toBe(0);
  });

  it('remember no client that holds none, when there are many', () => {
    const places = new FairSlots(8);
    for (let client = 0; client < 100_000; client += 1) {
      places.release(places.take(of(`client ${client}`)) as TakenSlot);
    }
    expect(places.known).toBeLessThan(2001);
  });

  it('remember no session that holds none, when a client has many', () => {
    const places = new FairSlots(8);
    for (let session = 0; session < 10_000; session += 1) {
      places.release(places.take(of('a', session)) as TakenSlot);
    }
    expect(places.known).toBeLessThan(100);
  });
});
