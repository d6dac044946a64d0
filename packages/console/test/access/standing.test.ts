import type { CredentialState } from '@isthmus/sdk/internal/transport/http-server/options.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { AccessControl } from '../../src/access/access.js';

function opened() {
  const clock = new FakeClock();
  const standings = new Map<string, CredentialState>();
  const access = new AccessControl({
    clock,
    authenticate: async ({ apiKey = '' }) => ({
      ...{ who: `key:${apiKey}`, levels: ['look'] },
      standing: async () => {
        const standing = standings.get(apiKey);
        if (standing === undefined) throw new Error('the file cannot be read');
        return standing;
      },
    }),
  });
  return { clock, standings, access };
}

describe('a session whose key was taken away', () => {
  it.each(['revoked', 'expired'] as const)('ends with the next request: %s', async (standing) => {
    const { standings, access } = opened();
    standings.set('ada', 'good').set('bob', 'good');
    const [ada, bob] = [await access.enter({ apiKey: 'ada' }), await access.enter({ apiKey: 'bob' })];
    expect((await access.userWith(ada.key))?.who).toBe('key:ada');
    standings.set('ada', standing);
    expect(await access.userWith(ada.key)).toBeUndefined();
    standings.set('ada', 'good');
    // It does not come back with the key.
    expect(await access.userWith(ada.key)).toBeUndefined();
    expect((await access.userWith(bob.key))?.who).toBe('key:bob');
  });

  it('ends its streams within seconds, without a request, and no timer runs without a stream', async () => {
    const { clock, standings, access } = opened();
    standings.set('ada', 'good').set('bob', 'good');
    const ended: string[] = [];
    const open = async (apiKey: string) => {
      const { key } = await access.enter({ apiKey });
      return access.onEnd(key, () => ended.push(apiKey));
    };
    expect(clock.waiting).toBe(0);
    await open('ada');
    const closeOfBob = await open('bob');
    expect(clock.waiting).toBe(1);
    clock.advance(2000);
    // The next review is planned when this one is over.
    await expect.poll(() => clock.waiting).toBe(1);
    expect(ended).toEqual([]);
    standings.set('ada', 'revoked');
    clock.advance(2000);
    await expect.poll(() => clock.waiting).toBe(1);
    expect(ended).toEqual(['ada']);
    closeOfBob();
    clock.advance(2000);
    await expect.poll(() => clock.waiting).toBe(0);
  });

  it('stays while it cannot be found out', async () => {
    const { standings, access } = opened();
    standings.set('ada', 'good');
    const { key } = await access.enter({ apiKey: 'ada' });
    standings.delete('ada');
    expect((await access.userWith(key))?.who).toBe('key:ada');
  });
});
