import type { Member } from '@isthmus/sdk/internal/cluster/member-list.js';
import type { Members } from '@isthmus/sdk/internal/cluster/members.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { MemberWatch } from '../../src/cluster/member-watch.js';

describe('a process that vanishes', () => {
  it('is missing for a minute, however long it was there before', () => {
    const { watch, clock, missing, say } = watchOf('a', 'b');
    clock.advance(3_600_000);
    say('a');
    expect(missing()).toEqual(['b']);
    clock.advance(60_000);
    expect(missing()).toEqual(['b']);
    clock.advance(1);
    expect(missing()).toEqual([]);
    watch.close();
  });

  it('is not missing if it drained before, or if it is there again', () => {
    const { watch, missing, say } = watchOf('a', 'b', 'c');
    say('a', 'b', { ...memberOf('c'), state: 'draining' });
    say('a');
    expect(missing()).toEqual(['b']);
    // It was declared dead by mistake, and has another name now.
    say('a', { ...memberOf('d'), formerly: ['b'] });
    expect(missing()).toEqual([]);
    watch.close();
  });
});

/** What the process `a` sees, and a way to say who is there. */
function watchOf(...first: readonly (string | Member)[]) {
  const clock = new FakeClock();
  let all = first.map(memberOf);
  let onChange = () => {};
  const members: Pick<Members, 'own' | 'all' | 'strangers' | 'find' | 'isSelf' | 'onChange'> = {
    own: memberOf('a'),
    strangers: [],
    get all() {
      return all;
    },
    find: (id) => all.find((each) => each.id === id || each.formerly.includes(id)),
    isSelf: (id) => id === 'a',
    onChange(callback) {
      onChange = callback;
      return () => {};
    },
  };
  const cluster = { name: 'default', members: members as Members };
  const watch = new MemberWatch({ cluster, greet: async () => {}, warn() {}, clock });
  return {
    ...{ watch, clock },
    say(...now: readonly (string | Member)[]) {
      all = now.map(memberOf);
      onChange();
    },
    missing() {
      watch.look();
      return watch.missing().map(({ id }) => id);
    },
  };
}

function memberOf(given: string | Member): Member {
  if (typeof given !== 'string') return given;
  const facts = {
    version: '1',
    protocol: 1,
    state: 'ready',
    host: 'h',
    servers: {},
    secrets: [],
    formerly: [],
  } as const;
  return { ...facts, id: given, address: `http://${given}:1`, startedAt: 1 };
}
