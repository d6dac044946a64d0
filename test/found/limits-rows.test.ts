import { Questions } from '@isthmus/gateway/internal/daemon/shim/questions.js';
import { type Follower, followLines, type LogLine } from '@isthmus/gateway/internal/log-tail.js';
import { BoundedNames } from '@isthmus/gateway/internal/telemetry/durations.js';
import { StderrLines } from '@isthmus/gateway/internal/telemetry/host-log.js';
import { knowsElicitation, noteElicitation } from '@isthmus/sdk/internal/bridge/session-changes.js';
import { memoryEraCache } from '@isthmus/sdk/internal/client/negotiation/era-cache.js';
import { describe, expect, it } from 'vitest';

describe('R3: rows of docs/limits.md, at their bound', () => {
  it('R3: a session remembers 1,000 elicitations, and forgets the oldest for each more', () => {
    const [session, other] = [{}, {}];
    noteElicitation(other, 'theirs');
    for (let at = 0; at < 1000; at += 1) noteElicitation(session, `e${at}`);
    expect(knowsElicitation(session, 'e0')).toBe(true);
    noteElicitation(session, 'e1000');
    expect(['e0', 'e1', 'e1000'].map((id) => knowsElicitation(session, id))).toEqual([false, true, true]);
    expect(knowsElicitation(other, 'theirs')).toBe(true);
  });

  it('R3: a shim remembers 1,000 questions of daemons that are gone, and forgets the oldest', () => {
    const questions = new Questions();
    const line = Buffer.from('{}');
    for (let id = 0; id < 1001; id += 1) questions.asked(line, id);
    expect(questions.forget()).toHaveLength(1001);
    // An answer to one that is remembered goes nowhere; one that is forgotten is passed on.
    expect(questions.answered(line, 1)).toBeUndefined();
    expect(questions.answered(line, 1000)).toBeUndefined();
    expect(questions.answered(line, 0)).toBe(line);
  });

  it('R3: the era cache in memory holds 1,000 servers, and the oldest go', async () => {
    const cache = memoryEraCache();
    const verdict = { era: 'legacy', revision: '2025-11-25', at: Date.now() } as const;
    for (let at = 0; at <= 1000; at += 1) await cache.set(`s${at}`, verdict);
    const known = await Promise.all(['s0', 's1', 's1000'].map((key) => cache.get(key)));
    expect(known.map((each) => each !== undefined)).toEqual([false, true, true]);
  });

  it('R3: a reader of logs that is slow misses the oldest lines from 2,000 on, and is told how many', async () => {
    const followers = new Set<Follower>();
    const end = new AbortController();
    const first = { server: 'a', text: 'before' } as unknown as LogLine;
    const lines = followLines(undefined, () => [first], followers, end.signal);
    await lines.next();
    const [follower] = followers;
    const add = (at: number) => follower!.add({ server: 'a', text: `l${at}` } as unknown as LogLine);
    for (let at = 0; at < 1999; at += 1) add(at);
    expect((await lines.next()).value).toEqual({ server: 'a', text: 'l0' });
    add(1999);
    add(2000);
    expect((await lines.next()).value).toEqual({ server: 'a', text: 'l1001', missed: 1000 });
    end.abort();
    await lines.return(undefined);
    expect(followers.size).toBe(0);
  });

  it('R3: a line of stderr that does not end is cut at 8 KiB', () => {
    const lines = new StderrLines();
    expect(lines.add('a', 'x'.repeat(8192))).toEqual([]);
    expect(lines.add('a', 'y')).toEqual([`${'x'.repeat(8192)}…`]);
    expect(lines.end('a')).toEqual([]);
  });

  it('R3: 1,000 processes may be within a line of stderr; the one that wrote longest ago loses its beginning', () => {
    const lines = new StderrLines();
    for (let at = 0; at <= 1000; at += 1) lines.add(`p${at}`, 'begun');
    expect([lines.end('p0'), lines.end('p1'), lines.end('p1000')]).toEqual([[], ['begun'], ['begun']]);
  });

  it('R3: names in metrics are bounded, and names that do not exist take a tenth at most', () => {
    const names = new BoundedNames(200);
    const invented = Array.from({ length: 50 }, (_, at) => names.of(`no${at}`, false));
    expect(invented.filter((name) => name !== 'other')).toHaveLength(20);
    const real = Array.from({ length: 250 }, (_, at) => names.of(`t${at}`, true));
    expect(real.filter((name) => name !== 'other')).toHaveLength(200);
    expect([names.of('t199', true), names.of('t200', true), names.of('x'.repeat(129), true)]).toEqual([
      ...['t199', 'other', 'other'],
    ]);
  });
});
