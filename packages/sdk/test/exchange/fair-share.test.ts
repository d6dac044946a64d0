import { describe, expect, it } from 'vitest';
import { FairShare } from '../../src/exchange/fair-share.js';

function shares(held: Record<string, number>): FairShare<string> {
  const share = new FairShare<string>();
  for (const [who, count] of Object.entries(held)) {
    for (let item = 0; item < count; item += 1) share.set(who, `${who}${item}`);
  }
  return share;
}

describe('items that can be taken back', () => {
  it('are taken from the client that has most', () => {
    const share = shares({ alice: 2, mallory: 997, bob: 1 });
    expect(share.displacedBy('carol')).toEqual({ kind: 'from', who: 'mallory' });
    expect(share.displacedBy('alice')).toEqual({ kind: 'from', who: 'mallory' });
  });

  it('are taken from the client itself when it has most, if they are not used', () => {
    expect(shares({ alice: 2, mallory: 998 }).displacedBy('mallory')).toEqual({
      kind: 'idle',
      of: ['mallory'],
    });
  });

  it('are taken from an equal only if they are not used', () => {
    const share = shares({ alice: 1, bob: 1 });
    expect(share.displacedBy('carol')).toEqual({ kind: 'idle', of: ['alice', 'bob'] });
    expect(share.displacedBy('bob')).toEqual({ kind: 'idle', of: ['bob'] });
  });

  it('count by what they take where they are of different sizes', () => {
    const share = new FairShare<string>();
    share.set('alice', 'a', 10);
    share.set('alice', 'b', 30);
    share.set('bob', 'c', 35);
    expect([share.total, share.size, share.most(), share.largestOf('alice')]).toEqual([75, 3, 'alice', 'b']);
    share.set('alice', 'b', 5);
    expect([share.total, share.most(), share.largestOf('alice')]).toEqual([50, 'bob', 'a']);
    expect(share.delete('bob', 'c')).toBe(true);
    expect(share.delete('bob', 'c')).toBe(false);
    expect([share.total, share.size, share.most()]).toEqual([15, 2, 'alice']);
  });
});
