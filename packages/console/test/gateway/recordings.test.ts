import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { FrameRing } from '../../src/frames/ring.js';
import { Recordings } from '../../src/gateway/recordings.js';

function stage() {
  const clock = new FakeClock();
  const notes: string[] = [];
  const ring = new FrameRing({ maxBytes: 1024 * 1024, maxFrameBytes: 64 * 1024 });
  const recordings = new Recordings({ clock, ring, isAllowed: true, note: (line) => void notes.push(line) });
  const data = '<'.repeat(100_000);
  const keep = () => ring.add({ at: 0, connection: 1, direction: 'to-server', kind: 'note', data });
  return { clock, notes, ring, recordings, keep };
}

describe('a recording', () => {
  it('ends when its time is over, and the log says who began it and why it ended', () => {
    const { clock, notes, recordings } = stage();
    recordings.begin('ada', { minutes: 2, servers: ['weather'], caller: 'key:ci' });
    expect([recordings.isOn('weather'), recordings.isOn('notes')]).toEqual([true, false]);
    clock.advance(119_999);
    expect(recordings.current).toBeDefined();
    clock.advance(1);
    expect(recordings.current).toBeUndefined();
    expect(recordings.isOn('weather')).toBe(false);
    expect(notes).toEqual([
      'ada records the messages of weather for key:ci for 2 min, without secrets',
      'the recording of ada has ended: its time is over',
    ]);
  });

  it('lasts at most 15 minutes, takes a bounded memory, and forgets what an earlier one has kept', () => {
    const { clock, ring, recordings, keep } = stage();
    recordings.begin('ada', {});
    for (let at = 0; at < 100; at += 1) keep();
    expect(ring.bytes).toBeLessThanOrEqual(1024 * 1024 + 64 * 1024);
    expect(recordings.all()).toMatchObject([{ state: 'running', frames: 100 }]);
    clock.advance(15 * 60_000);
    expect(recordings.all()).toMatchObject([{ state: 'ended', frames: 100 }]);
    expect(ring.first).toBeGreaterThan(0);
    recordings.begin('bob', {});
    expect([ring.first, recordings.all()[1]?.frames]).toEqual([0, 0]);
    recordings.close();
  });
});
