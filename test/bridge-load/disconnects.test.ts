/** Clients that are gone before their answers come. */
import { expect, it } from 'vitest';
import { until } from '../../packages/sdk/test/support/host-lifetime.js';
import {
  type LegacySession,
  legacyCall,
  modernCall,
  open,
  openSession,
  parseEvents,
  type Stream,
  send,
} from '../../packages/sdk/test/support/http-server.js';
import { CAPABILITIES, call, outcome } from './near/near.js';
import { FARS, openFar } from './support/every-far.js';
import { stage } from './support/stage.js';

it.each(FARS)(
  'a %s server is told of clients that are gone, and works on for one that may come back',
  async (kind) => {
    const { upstream, diary } = await openFar(kind);
    // A socket may have been closed on one side only: what was asked for is finished, within the grace.
    const { url, enter, bridge } = await stage(upstream, { serve: { graceMs: 50 } });
    const stays = await enter('modern HTTP', 'stays');
    const answer = call(stays, 0, 'hold', { text: 'stays' });
    // Both hang up: one before it has heard a word, the other on a stream.
    const silent = send(url, modernCall(0, 'hold', { text: 'silent' }, { capabilities: CAPABILITIES }));
    const streaming = await open(
      url,
      modernCall(
        0,
        'hold',
        { text: 'streaming' },
        { capabilities: CAPABILITIES, meta: { progressToken: 1 } },
      ),
    );
    await streaming.next();
    const leaving = await Promise.all(
      (['legacy socket', 'modern socket', 'legacy HTTP'] as const).map((way) => enter(way, way)),
    );
    const lost = leaving.map((near) => call(near, 0, 'hold', { text: near.name }).catch(() => 'lost'));
    const session = await openSession(url);
    const stream = await session.open(legacyCall(0, 'hold', { text: 'patient' }, { progressToken: 'p' }));
    await stream.next();
    await until('all run', () => diary.lines().length === 7);

    silent.destroy();
    streaming.hangUp();
    for (const near of leaving) await near.leave();
    stream.hangUp();
    const isCancelled = (line: string) => line.startsWith('cancelled');
    await until('five are cancelled', () => diary.lines().filter(isCancelled).length === 5);
    expect(await Promise.all(lost)).toEqual(['lost', 'lost', 'lost']);
    // That of the session that is left, and the one that the modern clients share.
    await until('their seats are free', () => bridge.upstreamSessions === 2);

    await call(stays, 1, 'release');
    expect(outcome(await answer)).toEqual([0, 'stays was released']);
    expect(await fetched(session, stream)).toEqual([0, 'patient was released']);
    expect(diary.lines().filter(isCancelled).sort()).toEqual([
      'cancelled legacy HTTP',
      'cancelled legacy socket',
      'cancelled modern socket',
      'cancelled silent',
      'cancelled streaming',
    ]);
  },
);

/** What came on a stream after its client had hung up. */
async function fetched(session: LegacySession, stream: Stream): Promise<unknown[]> {
  const { id } = parseEvents(stream.text).at(-1)!;
  const rest = await session.get({ 'last-event-id': id! });
  return outcome(await rest.next());
}
