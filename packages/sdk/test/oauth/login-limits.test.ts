import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { LoginLimits } from '../../src/oauth/begin-login.js';
import { resolveOAuth } from '../../src/oauth/options.js';

function openLimits() {
  const clock = new FakeClock();
  return { clock, limits: new LoginLimits(new URL('https://h/mcp'), resolveOAuth({ clock })) };
}

describe('the limits of logins', () => {
  it('two step-ups for the same scopes within ten minutes, in any order of the scopes', () => {
    const { clock, limits } = openLimits();
    expect([['a', 'b'], ['b', 'a'], ['a', 'b'], ['a']].map((scopes) => limits.mayStepUp(scopes))).toEqual([
      true,
      true,
      false,
      true,
    ]);
    clock.advance(600_000);
    expect(limits.mayStepUp(['a', 'b'])).toBe(true);
  });

  it('64 different sets of scopes within ten minutes, so that a server cannot fill the memory', () => {
    const { clock, limits } = openLimits();
    const allowed = Array.from({ length: 100 }, (_, each) => limits.mayStepUp([`scope-${each}`]));
    expect(allowed.filter(Boolean)).toHaveLength(64);
    clock.advance(600_000);
    expect(limits.mayStepUp(['another'])).toBe(true);
  });
});
