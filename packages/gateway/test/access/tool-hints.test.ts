import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { ToolHints } from '../../src/access/tool-hints.js';

const READS = { tools: [{ name: 'read_one', annotations: { readOnlyHint: true } }] };
const never = () => new Promise<JsonObject>(() => {});

describe('what tools say about themselves', () => {
  it('is read once for all callers of a server that they share', async () => {
    const hints = new ToolHints(new FakeClock());
    let lists = 0;
    const list = async () => {
      lists += 1;
      return READS;
    };
    await Promise.all(['ada', 'bob'].map((principal) => hints.read(list, principal)));
    expect([lists, hints.isReadOnly('read_one')]).toEqual([1, true]);
  });

  it('is read for each caller that has a process or a login of its own: one whose list never comes holds up no other', async () => {
    const clock = new FakeClock();
    const hints = new ToolHints(clock, true);
    const ofMallory = hints.read(never, 'mallory');
    await hints.read(async () => READS, 'bob');
    expect(hints.isReadOnly('read_one')).toBe(true);
    clock.advance(5000);
    await ofMallory;
  });

  it('is not read again for 5 s for the caller that had an empty list, and at once for another', async () => {
    const hints = new ToolHints(new FakeClock(), true);
    await hints.read(async () => ({ tools: [] }), 'mallory');
    await hints.read(async () => READS, 'mallory');
    expect(hints.isReadOnly('read_one')).toBeUndefined();
    await hints.read(async () => READS, 'bob');
    expect(hints.isReadOnly('read_one')).toBe(true);
  });
});
