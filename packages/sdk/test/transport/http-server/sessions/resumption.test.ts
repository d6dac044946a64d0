import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../../test/support/fake-clock.js';
import { createServer } from '../../../../src/index.js';
import { memoryEventStore } from '../../../../src/transport/http.js';
import {
  ask,
  gate,
  legacyCall,
  legacyRequest,
  modernCall,
  openSession,
  type Place,
  type SseEvent,
  type Stream,
  serveHttp,
  until,
} from '../../../support/http-server.js';

/** A tool that says one word per step, when it is told to. */
function stepwise() {
  const server = createServer({ name: 'stepwise', version: '1' });
  const calls = new Map<string, { say(word: string): void; finish(): void; aborted(): boolean }>();
  server.tool('speak', {}, async (_args, ctx) => {
    const { name } = ctx.params['arguments'] as { name: string };
    const end = gate();
    let step = 0;
    calls.set(name, {
      say: (word) => {
        step += 1;
        ctx.progress(step, undefined, word);
      },
      finish: () => end.open(),
      aborted: () => ctx.signal.aborted,
    });
    await end.promise;
    return `the end of ${name}`;
  });
  server.resource('test://a', { name: 'a' }, () => 'a');
  const begin = async (name: string) => {
    await until(`call ${name}`, () => calls.has(name));
    return calls.get(name)!;
  };
  return { server, begin };
}

const words = (stream: Stream) =>
  stream.messages.map(({ params, result }) => params?.['message'] ?? result?.content[0].text);
const lastId = (stream: Stream) => stream.events.findLast(({ id }) => id !== undefined)!.id!;
const call = (id: number, name: string) => legacyCall(id, 'speak', { name }, { progressToken: name });

/** Waits until the server knows that a stream is no longer read. */
async function dropped(stream: Stream, place: Place): Promise<void> {
  stream.hangUp();
  await stream.end();
  for (let turn = 0; turn < 3; turn += 1) await ask(place.url, modernCall(1, 'none'));
}

describe('a stream of 2025-11-25', () => {
  it('names the event again to a client that resumes and has missed nothing, since official clients forget it', async () => {
    const { server, begin } = stepwise();
    const place = await serveHttp(server);
    const session = await openSession(place.url);
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const stream = await opening;
    await stream.next();
    const from = lastId(stream);
    await dropped(stream, place);
    // Twice: what the first one was sent is enough for the second one.
    const first = await session.get({ 'last-event-id': from });
    await first.until('the event', () => first.events.length > 0);
    expect(first.events).toEqual([{ id: from, data: '' }]);
    await dropped(first, place);
    const second = await session.get({ 'last-event-id': lastId(first) });
    speaker.say('two');
    speaker.finish();
    await second.end();
    expect(words(second)).toEqual(['two', 'the end of a']);
  });

  it('begins with an event that has an id and no content (LHTTP-011)', async () => {
    const { server, begin } = stepwise();
    const { url } = await serveHttp(server, { retryMs: 1500 });
    const session = await openSession(url);
    const standing = await session.get();
    await standing.until('priming event', () => standing.events.length > 0);
    expect(standing.events[0]).toEqual({ id: expect.stringMatching(/./), retry: '1500', data: '' });
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const stream = await opening;
    await stream.next();
    expect(stream.events[0]).toEqual({ id: expect.stringMatching(/./), retry: '1500', data: '' });
    expect(stream.events[1]).toMatchObject({ event: 'message', id: expect.stringMatching(/./) });
    speaker.finish();
    await stream.end();
  });

  it.each(['2025-03-26', '2025-06-18'])('a stream of %s does not', async (revision) => {
    const { server, begin } = stepwise();
    const { url } = await serveHttp(server, { retryMs: 1500 });
    const session = await openSession(url, { revision });
    const opening = session.open(call(1, 'a'));
    (await begin('a')).say('one');
    const stream = await opening;
    await stream.next();
    expect(stream.events).toHaveLength(1);
    expect(stream.events[0]).toMatchObject({ event: 'message', id: expect.stringMatching(/./) });
    (await begin('a')).finish();
    await stream.end();
  });
});

describe('a stream that was lost', () => {
  it.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
    'goes on where it was cut, without a gap or a repetition, %s (LHTTP-009, LHTTP-022)',
    async (revision) => {
      const { server, begin } = stepwise();
      const place = await serveHttp(server);
      const session = await openSession(place.url, { revision });
      const opening = session.open(call(1, 'a'));
      const speaker = await begin('a');
      speaker.say('one');
      const first = await opening;
      await first.next();
      await dropped(first, place);
      speaker.say('two');
      speaker.say('three');
      const second = await session.get({ 'last-event-id': lastId(first) });
      expect(second.status).toBe(200);
      await second.until('both', () => second.messages.length === 2);
      speaker.say('four');
      await second.until('the next', () => second.messages.length === 3);
      speaker.finish();
      await second.end();
      expect(words(second)).toEqual(['two', 'three', 'four', 'the end of a']);
      expect(second.messages.at(-1)?.id).toBe(1);
      expect(speaker.aborted()).toBe(false);
    },
  );

  it('gives its answer also when that came while it was not read', async () => {
    const { server, begin } = stepwise();
    const place = await serveHttp(server);
    const session = await openSession(place.url);
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const first = await opening;
    await first.next();
    await dropped(first, place);
    speaker.finish();
    for (let turn = 0; turn < 2; turn += 1) {
      // Twice: the second reader may have been lost, too.
      const again = await session.get({ 'last-event-id': lastId(first) });
      await again.end();
      expect(words(again)).toEqual(['the end of a']);
    }
  });

  it('never brings what belongs to another stream; every id is used once (LHTTP-020, LHTTP-021, LHTTP-023)', async () => {
    const { server, begin } = stepwise();
    const place = await serveHttp(server);
    const session = await openSession(place.url);
    const standing = await session.get();
    await session.post(legacyRequest('s', 'resources/subscribe', { uri: 'test://a' }));
    const names = ['a', 'b', 'c'];
    const streams: Stream[] = [];
    for (const [id, name] of names.entries()) {
      const opening = session.open(call(id, name));
      (await begin(name)).say(`${name} one`);
      streams.push(await opening);
      await streams[id]!.next();
    }
    server.resourceUpdated('test://a');
    await standing.next();
    for (const stream of [standing, ...streams]) await dropped(stream, place);
    for (const name of names) (await begin(name)).say(`${name} two`);
    server.resourceUpdated('test://a');
    for (const name of names) (await begin(name)).finish();
    const seen: SseEvent[] = [standing, ...streams].flatMap(({ events }) => events);
    for (const [id, name] of names.entries()) {
      const resumed = await session.get({ 'last-event-id': lastId(streams[id]!) });
      await resumed.end();
      expect(words(resumed)).toEqual([`${name} two`, `the end of ${name}`]);
      seen.push(...resumed.events);
    }
    const stood = await session.get({ 'last-event-id': lastId(standing) });
    expect(await stood.next()).toMatchObject({ method: 'notifications/resources/updated' });
    expect(stood.messages).toHaveLength(1);
    seen.push(...stood.events);
    const ids = seen.map(({ id }) => id).filter((id) => id !== undefined);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('cannot be resumed from the first event on twice at the same time: the later reader has it', async () => {
    const { server, begin } = stepwise();
    const place = await serveHttp(server);
    const session = await openSession(place.url);
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const first = await opening;
    await first.next();
    const second = await session.get({ 'last-event-id': lastId(first) });
    await first.end();
    speaker.say('two');
    expect(words({ messages: [await second.next()] } as Stream)).toEqual(['two']);
    expect(words(first)).toEqual(['one']);
    speaker.finish();
    await second.end();
  });

  it('brings a question that was asked meanwhile, and its answer is heard', async () => {
    const server = createServer({ name: 'curious', version: '1' });
    const started = gate();
    const release = gate();
    server.tool('ask', {}, async (_args, ctx) => {
      ctx.progress(1);
      started.open();
      await release.promise;
      const { action } = await ctx.elicit({
        message: '?',
        requestedSchema: { type: 'object', properties: {} },
      });
      return action;
    });
    const place = await serveHttp(server);
    const session = await openSession(place.url, { capabilities: { elicitation: {} } });
    const opening = session.open(legacyCall(1, 'ask', {}, { progressToken: 1 }));
    await started.promise;
    const first = await opening;
    await first.next();
    await dropped(first, place);
    release.open();
    const second = await session.get({ 'last-event-id': lastId(first) });
    const question = await second.next();
    expect(question.method).toBe('elicitation/create');
    await session.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } });
    expect((await second.next()).result.content[0].text).toBe('decline');
    await second.end();
  });
});

describe('Last-Event-ID', () => {
  it.each(['nonsense', '99-99', ''])(
    '%j that names nothing is refused, and the standing stream stays',
    async (id) => {
      const { server } = stepwise();
      const { url } = await serveHttp(server);
      const session = await openSession(url);
      const standing = await session.get();
      const refused = await session.get({ 'last-event-id': id });
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(refused.status).toBeLessThan(500);
      expect(standing.over).toBe(false);
    },
  );

  it('of another session means nothing here', async () => {
    const { server, begin } = stepwise();
    const place = await serveHttp(server);
    const ada = await openSession(place.url);
    const bob = await openSession(place.url);
    const opening = ada.open(call(1, 'secret'));
    const speaker = await begin('secret');
    speaker.say('one');
    const stream = await opening;
    await stream.next();
    await dropped(stream, place);
    speaker.say('two');
    const thief = await bob.get({ 'last-event-id': lastId(stream) });
    if (thief.status === 200) {
      await thief.until('anything', () => thief.events.length > 0, 300).catch(() => {});
      expect(thief.messages).toEqual([]);
    } else expect(thief.status).toBe(400);
    speaker.finish();
  });

  it('of an event that the store has forgotten is refused: it is not known what was missed', async () => {
    const { server, begin } = stepwise();
    const place = await serveHttp(server, { eventStore: () => memoryEventStore({ maxEvents: 3 }) });
    const session = await openSession(place.url);
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const first = await opening;
    await first.next();
    await dropped(first, place);
    for (const word of ['two', 'three', 'four', 'five']) speaker.say(word);
    const refused = await session.get({ 'last-event-id': lastId(first) });
    expect(refused.status).toBe(400);
    speaker.finish();
  });

  it('is not offered when there is no store: streams have no ids', async () => {
    const { server, begin } = stepwise();
    const { url } = await serveHttp(server, { eventStore: false });
    const session = await openSession(url);
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const stream = await opening;
    await stream.next();
    speaker.finish();
    await stream.end();
    expect(stream.events.map(({ id }) => id)).toEqual([undefined, undefined]);
  });

  it('works with a store of one’s own', async () => {
    const kept: string[] = [];
    const { server, begin } = stepwise();
    const place = await serveHttp(server, {
      eventStore: () => {
        const store = memoryEventStore();
        return {
          add: (stream, json) => {
            kept.push(json);
            return store.add(stream, json);
          },
          after: (id) => store.after(id),
        };
      },
    });
    const session = await openSession(place.url);
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const first = await opening;
    await first.next();
    await dropped(first, place);
    speaker.finish();
    const second = await session.get({ 'last-event-id': lastId(first) });
    await second.end();
    expect(words(second)).toEqual(['the end of a']);
    expect(kept.filter((json) => json !== '')).toHaveLength(2);
  });
});

describe('polling (pollAfterMs)', () => {
  const TIMES = { pollAfterMs: 1000, keepAliveMs: 60_000 };

  it('lets a client of 2025-11-25 go, which comes back for the rest (LHTTP-012, LHTTP-013)', async () => {
    const clock = new FakeClock();
    const { server, begin } = stepwise();
    const { url } = await serveHttp(server, { clock, retryMs: 500, ...TIMES });
    const session = await openSession(url);
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const first = await opening;
    await first.next();
    expect(first.events[0]?.retry).toBe('500');
    clock.advance(1600);
    await first.end();
    expect(first.complete).toBe(true);
    expect(words(first)).toEqual(['one']);
    expect(speaker.aborted()).toBe(false);
    speaker.say('two');
    const second = await session.get({ 'last-event-id': lastId(first) });
    expect((await second.next()).params?.['message']).toBe('two');
    speaker.finish();
    await second.end();
    expect(words(second)).toEqual(['two', 'the end of a']);
  });

  it('says how long to wait before it lets go, also when no pause was configured (LHTTP-013)', async () => {
    const clock = new FakeClock();
    const { server, begin } = stepwise();
    const { url } = await serveHttp(server, { clock, ...TIMES });
    const session = await openSession(url);
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const first = await opening;
    await first.next();
    clock.advance(1600);
    await first.end();
    expect(first.events.map(({ retry }) => retry).filter((retry) => retry !== undefined)).toEqual([
      expect.stringMatching(/^\d+$/),
    ]);
    speaker.finish();
  });

  it('lets a call go that has said nothing yet', async () => {
    const clock = new FakeClock();
    const { server, begin } = stepwise();
    const { url } = await serveHttp(server, { clock, retryMs: 500, ...TIMES });
    const session = await openSession(url);
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    clock.advance(1600);
    const first = await opening;
    await first.end();
    expect(first.events).toEqual([{ id: expect.stringMatching(/./), retry: '500', data: '' }]);
    speaker.finish();
    const second = await session.get({ 'last-event-id': lastId(first) });
    await second.end();
    expect(words(second)).toEqual(['the end of a']);
  });

  it('gives a client that came back the same time again', async () => {
    const clock = new FakeClock();
    const { server, begin } = stepwise();
    const { url } = await serveHttp(server, { clock, retryMs: 500, ...TIMES });
    const session = await openSession(url);
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const first = await opening;
    await first.next();
    clock.advance(1600);
    await first.end();
    const second = await session.get({ 'last-event-id': lastId(first) });
    clock.advance(600);
    speaker.say('two');
    expect((await second.next()).params?.['message']).toBe('two');
    expect(second.over).toBe(false);
    clock.advance(1500);
    await second.end();
    speaker.finish();
  });

  it.each(['2025-03-26', '2025-06-18'])('does not let a client of %s go (LHTTP-008)', async (revision) => {
    const clock = new FakeClock();
    const { server, begin } = stepwise();
    const { url } = await serveHttp(server, { clock, retryMs: 500, ...TIMES });
    const session = await openSession(url, { revision });
    const opening = session.open(call(1, 'a'));
    const speaker = await begin('a');
    speaker.say('one');
    const stream = await opening;
    await stream.next();
    clock.advance(10_000);
    speaker.say('two');
    expect((await stream.next()).params?.['message']).toBe('two');
    speaker.finish();
    await stream.end();
    expect(words(stream)).toEqual(['one', 'two', 'the end of a']);
  });

  it('does not touch a modern stream', async () => {
    const clock = new FakeClock();
    const { server, begin } = stepwise();
    const { url } = await serveHttp(server, { clock, retryMs: 500, ...TIMES });
    const answer = ask(url, modernCall(1, 'speak', { name: 'm' }, { meta: { progressToken: 1 } }));
    const speaker = await begin('m');
    speaker.say('one');
    clock.advance(10_000);
    speaker.finish();
    expect((await answer).messages.map(({ id }) => id)).toEqual([undefined, 1]);
  });
});
