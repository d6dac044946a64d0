import { describe, expect, it, test } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import type { Changes, Client } from '../../../src/client/index.js';
import { memoryEraCache } from '../../../src/client/negotiation/era-cache.js';
import type { IsthmusError } from '../../../src/errors.js';
import { failure, isSettled, settle, textOf } from '../../support/client/open-client.js';
import { openHost, type Programmed, programmed, until, type Watched } from '../../support/host-lifetime.js';
import { isAlive } from '../../support/process.js';

/** One server, `a`, one conversation, its process ready and its lists read. */
async function meet(
  server: Programmed,
  more: Parameters<Programmed['definition']>[0] = {},
): Promise<Watched & { clock: FakeClock; chat: Client }> {
  const clock = new FakeClock();
  const watched = openHost({ clock, servers: { a: server.definition(more) } });
  const chat = watched.host.conversation('a');
  await chat.callTool('whoami');
  await watched.seen.nth('receipt');
  return { ...watched, clock, chat };
}

/** Kills the newest process, waits until that is noticed, and lets the pause pass. */
async function crash(server: Programmed, { seen, clock }: Watched & { clock: FakeClock }): Promise<void> {
  const before = seen.all('restart').length;
  process.kill(server.starts().at(-1)!, 'SIGKILL');
  const { delayMs } = await seen.nth('restart', before + 1);
  clock.advance(delayMs);
}

async function nextOf(changes: Changes): Promise<unknown> {
  const { value } = await changes[Symbol.asyncIterator]().next();
  return value;
}

describe('a process that crashes', () => {
  it('is not ready at once, is started again after a second, and then calls succeed (D-1, D-15)', async () => {
    const server = programmed();
    const { host, seen, clock, chat } = await meet(server);
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready', ready: true });
    process.kill(server.starts()[0]!, 'SIGKILL');
    const exit = await seen.nth('exit');
    expect((await host.status()).servers['a']).toMatchObject({ state: 'backing-off', ready: false });
    expect(exit).toMatchObject({ generation: 1, pid: server.starts()[0], phase: 'run', expected: false });
    expect(exit.reason).toContain('SIGKILL');
    expect(seen.all('restart')).toMatchObject([{ attempt: 1, delayMs: 1000 }]);
    const first = chat.callTool('whoami');
    clock.advance(999);
    expect(await isSettled(first)).toBe(false);
    expect(server.starts()).toHaveLength(1);
    clock.advance(1);
    expect(textOf(await first)).toBe(String(server.starts()[1]));
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
    await seen.nth('receipt', 2);
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready', ready: true, restarts: 1 });
    expect(seen.all('start').map(({ generation, why }) => [generation, why])).toEqual([
      [1, 'use'],
      [2, 'crash'],
    ]);
  });

  it('is named, with its end and its last stderr lines, to a call whose time is up before there is another', async () => {
    const server = programmed({ say: 'disk is full' });
    const { seen, clock, chat } = await meet(server);
    process.kill(server.starts()[0]!, 'SIGKILL');
    await seen.nth('exit');
    const late = failure(chat.callTool('whoami', {}, { timeoutMs: 500 }));
    await settle();
    clock.advance(500);
    const error = await late;
    expect(error).toMatchObject({ code: 'TIMED_OUT', sent: 'no', generation: 1 });
    expect(error.message).toMatch(
      /^a was not connected within 500 ms; the last time: a was ended by SIGKILL/,
    );
    expect((error as IsthmusError).stderrTail).toContain('disk is full');
  });

  it('fails what is in flight at once, with its generation, its end and its last stderr lines', async () => {
    const server = programmed({ say: 'disk is full' });
    const { chat } = await meet(server);
    const held = [failure(chat.callTool('hold')), failure(chat.callTool('hold'))];
    await until('they run', () => server.ran().length === 2);
    await failure(chat.callTool('die', { code: 7 }));
    for (const error of await Promise.all(held)) {
      expect(error).toMatchObject({
        code: 'CHILD_EXITED',
        sent: 'maybe',
        generation: 1,
        stderrTail: 'disk is full\nit was asked to die\n',
      });
      expect(error.message).toContain('code 7');
      expect(error.message).toContain('it was asked to die');
    }
  });

  it('is told in the status with its reason, phase and last stderr lines', async () => {
    const server = programmed({ say: 'disk is full' });
    const { host, seen, clock, chat } = await meet(server);
    await failure(chat.callTool('die', { code: 7 }));
    await seen.nth('exit');
    const { lastExit } = (await host.status()).servers['a']!;
    expect(lastExit).toMatchObject({
      generation: 1,
      phase: 'run',
      at: clock.now(),
      stderrTail: 'disk is full\nit was asked to die\n',
    });
    expect(lastExit!.reason).toContain('code 7');
    expect((await host.status()).servers['a']!.processes[0]).toMatchObject({
      pid: undefined,
      generation: 1,
      uptimeMs: undefined,
      receipt: undefined,
      facts: undefined,
      nextAttemptAt: clock.now() + 1000,
    });
  });

  it('is not started again when nobody would miss it, but by its next use', async () => {
    const server = programmed();
    const watched = await meet(server);
    const { host, seen, chat } = watched;
    await chat.close();
    await crash(server, watched);
    await settle();
    expect((await host.status()).servers['a']).toMatchObject({ state: 'idle', conversations: 0 });
    expect(seen.all('start')).toHaveLength(1);
    expect(textOf(await host.conversation('a').callTool('whoami'))).toBe(String(server.starts()[1]));
  });

  it('is started again without anybody when it is eager', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition({ start: 'eager' }) } });
    await seen.nth('receipt');
    await crash(server, { host, seen, clock });
    await seen.nth('receipt', 2);
    expect((await host.status()).servers['a']).toMatchObject({ ready: true, restarts: 1 });
  });

  it('is started again only by its next use where nothing else was asked for', async () => {
    const server = programmed();
    const { host, seen, clock, chat } = await meet(server, { restart: false });
    process.kill(server.starts()[0]!, 'SIGKILL');
    await seen.nth('exit');
    clock.advance(600_000);
    await settle();
    expect((await host.status()).servers['a']).toMatchObject({ state: 'idle' });
    expect(server.starts()).toHaveLength(1);
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
    expect(seen.all('restart')).toEqual([]);
  });
});

describe('a crash loop', () => {
  it('is declared after five attempts, with pauses that double, and says why', async () => {
    const server = programmed({}, { die: 3, say: 'no licence' });
    const watched = await meet(server);
    const { host, seen, clock, chat } = watched;
    await crash(server, watched);
    for (let attempt = 2; attempt <= 5; attempt += 1) {
      const { delayMs } = await seen.nth('restart', attempt);
      clock.advance(delayMs - 1);
      await settle();
      expect(seen.all('start')).toHaveLength(attempt);
      clock.advance(1);
    }
    const loop = await seen.nth('crash-loop');
    expect(loop).toMatchObject({ attempts: 5 });
    expect(loop.reason).toContain('no licence');
    expect(seen.all('restart').map(({ attempt, delayMs }) => [attempt, delayMs])).toEqual([
      [1, 1000],
      [2, 2000],
      [3, 4000],
      [4, 8000],
      [5, 16_000],
    ]);
    // Crashes at start are told apart from the one at run time.
    expect(seen.all('exit').map(({ phase }) => phase)).toEqual([
      'run',
      'start',
      'start',
      'start',
      'start',
      'start',
    ]);
    expect((await host.status()).servers['a']).toMatchObject({
      state: 'crash-loop',
      ready: false,
      lastExit: { phase: 'start', generation: 6, stderrTail: 'no licence\n' },
    });
    const error = await failure(chat.callTool('whoami'));
    expect(error).toMatchObject({
      code: 'CRASH_LOOP',
      sent: 'no',
      generation: 6,
      stderrTail: 'no licence\n',
    });
    expect(error.message).toContain('a ended 6 times in a row and is not restarted automatically');
    expect(error.message).toContain('no licence');
    expect(await failure(host.start('a'))).toMatchObject({ code: 'CRASH_LOOP' });
    const before = server.starts().length;
    clock.advance(60_000);
    await settle();
    expect(server.starts()).toHaveLength(before);
  });

  it('is left by restart()', async () => {
    const server = programmed({}, { die: 3 });
    const { host, seen, chat } = await meet(server, { restart: { attempts: 0 } });
    process.kill(server.starts()[0]!, 'SIGKILL');
    await seen.nth('crash-loop');
    // While it is still broken, restart() says so.
    const error = await failure(host.restart('a'));
    expect(error).toMatchObject({ code: 'CRASH_LOOP', sent: 'no', generation: 2 });
    expect(error.message).toContain('code 3');
    expect((await host.status()).servers['a']).toMatchObject({ state: 'crash-loop' });
    server.becomes({});
    await host.restart('a');
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts().at(-1)));
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready' });
  });

  it('is left by another configuration, and by switching off and on', async () => {
    const server = programmed({}, { die: 3 });
    const { host, seen, chat } = await meet(server, { restart: { attempts: 0 } });
    process.kill(server.starts()[0]!, 'SIGKILL');
    await seen.nth('crash-loop');
    server.becomes({});
    await host.configure({ a: server.definition({ restart: { attempts: 0 }, timeoutMs: 7000 }) });
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts().at(-1)));
    server.becomes({ die: 3 });
    process.kill(server.starts().at(-1)!, 'SIGKILL');
    await seen.nth('crash-loop', 2);
    server.becomes({});
    await host.disable('a');
    await host.enable('a');
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts().at(-1)));
  });

  it('is tried again by a use after five quiet minutes', async () => {
    const server = programmed({}, { die: 3 });
    const { seen, clock, chat } = await meet(server, { restart: { attempts: 0 } });
    process.kill(server.starts()[0]!, 'SIGKILL');
    await seen.nth('crash-loop');
    server.becomes({});
    clock.advance(299_999);
    expect(await failure(chat.callTool('whoami'))).toMatchObject({ code: 'CRASH_LOOP' });
    clock.advance(1);
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts().at(-1)));
  });

  it('is forgotten after five stable minutes, and not before', async () => {
    const server = programmed();
    const watched = await meet(server, { restart: { attempts: 2 } });
    const { seen, clock } = watched;
    await crash(server, watched);
    await seen.nth('receipt', 2);
    await crash(server, watched);
    await seen.nth('receipt', 3);
    clock.advance(300_000);
    await crash(server, watched);
    await seen.nth('receipt', 4);
    clock.advance(299_000);
    await crash(server, watched);
    await seen.nth('receipt', 5);
    process.kill(server.starts().at(-1)!, 'SIGKILL');
    await seen.nth('crash-loop');
    expect(seen.all('restart').map(({ attempt }) => attempt)).toEqual([1, 2, 1, 2]);
  });
});

describe('an eager server that dies at each start', () => {
  it('is tried again by itself until it is a crash loop, and does not disturb another one', async () => {
    const clock = new FakeClock();
    const bad = programmed({ die: 3 });
    const good = programmed();
    const { host, seen } = openHost({
      clock,
      servers: {
        bad: bad.definition({ start: 'eager', restart: { attempts: 2 } }),
        good: good.definition(),
      },
    });
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      clock.advance((await seen.nth('restart', attempt)).delayMs);
      expect(textOf(await host.conversation('good').callTool('echo', { text: 'hi' }))).toBe('hi');
    }
    await seen.nth('crash-loop');
    expect(seen.all('exit').map(({ phase }) => phase)).toEqual(['start', 'start', 'start']);
    expect((await host.status()).servers['bad']).toMatchObject({ state: 'crash-loop', restarts: 2 });
  });
});

describe.each(['legacy', 'modern'] as const)('after a restart, a %s process', (eras) => {
  it('has the subscriptions and the log level of every conversation again, and news flow', async () => {
    const server = programmed({ eras, resources: true });
    const watched = await meet(server);
    const { host, seen, chat } = watched;
    const other = host.conversation('a');
    const mine = await chat.listen({ uris: ['memo://1'] });
    const theirs = await other.listen({ uris: ['memo://2'], tools: true });
    await chat.setLogLevel('debug');
    await crash(server, watched);
    await seen.nth('receipt', 2);
    const [, fresh] = server.starts();
    if (eras === 'legacy') {
      await until(
        'all is set up',
        () => server.got(fresh!).filter((m) => m === 'resources/subscribe').length === 2,
      );
      const again = server.journal().filter(({ pid, method }) => pid === fresh && method !== undefined);
      expect(
        again
          .filter(({ uri }) => uri)
          .map(({ uri }) => uri)
          .sort(),
      ).toEqual(['memo://1', 'memo://2']);
      expect(again.filter(({ level }) => level).map(({ level }) => level)).toEqual(['debug']);
      expect(server.got(fresh!)[0]).toBe('initialize');
    } else {
      await until(
        'all is set up',
        () => server.got(fresh!).filter((m) => m === 'subscriptions/listen').length === 2,
      );
      expect(server.got(fresh!)[0]).toBe('server/discover');
    }
    await other.callTool('tell', { uri: 'memo://1' });
    expect(await nextOf(mine)).toEqual({ kind: 'resource', uri: 'memo://1' });
    mine.close();
    theirs.close();
  });

  it('is compared with the one before: whoever listens for lists is told of a difference', async () => {
    const server = programmed({ eras, resources: true }, { eras, resources: true, tools: { extra: {} } });
    const watched = await meet(server);
    const { seen, chat } = watched;
    const tools = await chat.listen({ tools: true });
    const resources = await chat.listen({ resources: true });
    expect((await chat.listTools()).map(({ name }) => name)).not.toContain('extra');
    const news = nextOf(tools);
    const none = nextOf(resources);
    await crash(server, watched);
    expect(await news).toEqual({ kind: 'tools' });
    expect((await chat.listTools()).map(({ name }) => name)).toContain('extra');
    expect(seen.all('changed')).toMatchObject([{ generation: 2, what: ['tools'] }]);
    expect(await isSettled(none)).toBe(false);
    tools.close();
    resources.close();
  });

  it('that has not changed is not reported', async () => {
    const server = programmed({ eras, resources: true });
    const watched = await meet(server);
    const { seen, chat } = watched;
    const changes = await chat.listen({ tools: true, resources: true });
    const news = nextOf(changes);
    await crash(server, watched);
    await seen.nth('receipt', 2);
    await settle();
    expect(await isSettled(news)).toBe(false);
    expect(seen.all('changed')).toEqual([]);
    changes.close();
  });
});

describe('a subscription', () => {
  it('survives two attempts that fail, and works when the third succeeds', async () => {
    // A process that dies at its start is asked twice in each attempt: it might be an old one.
    const dies = { die: 3 };
    const server = programmed({ resources: true }, dies, dies, dies, dies, { resources: true });
    const watched = await meet(server);
    const { seen, clock, chat } = watched;
    const changes = await chat.listen({ uris: ['memo://1'] });
    const news = nextOf(changes);
    await crash(server, watched);
    clock.advance((await seen.nth('restart', 2)).delayMs);
    clock.advance((await seen.nth('restart', 3)).delayMs);
    await seen.nth('receipt', 2);
    const fresh = server.starts().at(-1)!;
    await until('it is subscribed', () => server.got(fresh).includes('subscriptions/listen'));
    await chat.callTool('tell', { uri: 'memo://1' });
    expect(await news).toEqual({ kind: 'resource', uri: 'memo://1' });
    expect(seen.all('exit').map(({ phase }) => phase)).toEqual(['run', 'start', 'start']);
    changes.close();
  });

  it('ends with the crash loop as its error', async () => {
    const server = programmed({ resources: true }, { die: 3, say: 'no licence' });
    const watched = await meet(server, { restart: { attempts: 1 } });
    const { seen, chat } = watched;
    const changes = await chat.listen({ uris: ['memo://1'] });
    const end = failure(nextOf(changes));
    await crash(server, watched);
    await seen.nth('crash-loop');
    const error = await end;
    expect(error).toMatchObject({ code: 'CRASH_LOOP' });
    expect(error.message).toContain('no licence');
  });

  it('goes on over an explicit restart', async () => {
    const server = programmed({ resources: true });
    const { host, chat } = await meet(server);
    const changes = await chat.listen({ uris: ['memo://1'] });
    const news = nextOf(changes);
    await host.restart('a');
    const [, fresh] = server.starts();
    await until('it is subscribed', () => server.got(fresh!).includes('subscriptions/listen'));
    await chat.callTool('tell', { uri: 'memo://1' });
    expect(await news).toEqual({ kind: 'resource', uri: 'memo://1' });
    changes.close();
  });
});

describe('a server that changes its era between two starts', () => {
  test.each([
    ['legacy', 'modern'],
    ['modern', 'legacy'],
  ] as const)(
    'from %s to %s is spoken to as it is now, and only one process is started',
    async (from, to) => {
      const server = programmed({ eras: from, resources: true }, { eras: to, resources: true });
      const watched = await meet(server);
      const { host, seen, chat } = watched;
      expect(chat.era).toBe(from);
      const changes = await chat.listen({ uris: ['memo://1'] });
      await crash(server, watched);
      await seen.nth('receipt', 2);
      expect(textOf(await chat.callTool('echo', { text: 'hello' }))).toBe('hello');
      expect(chat.era).toBe(to);
      expect((await host.status()).servers['a']!.processes[0]).toMatchObject({
        era: to,
        verdict: { era: to },
      });
      const [, fresh] = server.starts();
      const subscribe = to === 'legacy' ? 'resources/subscribe' : 'subscriptions/listen';
      await until('it is subscribed', () => server.got(fresh!).includes(subscribe));
      expect(server.starts()).toHaveLength(2);
      changes.close();
    },
  );

  it('and then stays the same is not asked twice for its era', async () => {
    const server = programmed({ eras: 'legacy' });
    const watched = await meet(server);
    await crash(server, watched);
    await watched.seen.nth('receipt', 2);
    const [first, second] = server.starts();
    expect(server.got(first!).slice(0, 2)).toEqual(['server/discover', 'initialize']);
    expect(server.got(second!)[0]).toBe('initialize');
    expect(server.got(second!)).not.toContain('server/discover');
  });
});

describe('a server that exits on the probe', () => {
  it('is legacy, with one respawn, never two alive, and the next generation starts once (D-22)', async () => {
    const clock = new FakeClock();
    const cache = memoryEraCache({ clock });
    const server = programmed({ eras: 'legacy', dieOn: 'server/discover' });
    const { host, seen } = openHost({ clock, cache, servers: { a: server.definition() } });
    const chat = host.conversation('a');
    expect(textOf(await chat.callTool('echo', { text: 'hi' }))).toBe('hi');
    expect(chat.era).toBe('legacy');
    expect(server.starts()).toHaveLength(2);
    expect(server.mostAlive()).toBe(1);
    await seen.nth('receipt');
    await crash(server, { host, seen, clock });
    expect(textOf(await chat.callTool('echo', { text: 'hi' }))).toBe('hi');
    expect(server.starts()).toHaveLength(3);
    expect(seen.all('ready').map(({ generation }) => generation)).toEqual([1, 2]);
    await host.close();
    // Another host remembers, too.
    const next = openHost({ clock, cache, servers: { a: server.definition() } });
    expect(textOf(await next.host.conversation('a').callTool('echo', { text: 'hi' }))).toBe('hi');
    expect(server.starts()).toHaveLength(4);
    expect(server.starts().filter(isAlive)).toHaveLength(1);
  });
});

describe('calls that never left', () => {
  it('run on the new process, each once; those that may have run are not made again', async () => {
    const server = programmed();
    const { chat, ...watched } = await meet(server);
    // It stops reading: what is called now piles up in the pipe, and then with us.
    await chat.callTool('close-ears');
    const padding = 'x'.repeat(64 * 1024);
    const call = (token: number) =>
      chat.callTool('note', { token, padding }).then(
        (result) => ({ token, text: textOf(result) }),
        (error) => ({ token, error }),
      );
    const calls = [];
    for (let token = 0; token < 60; token += 1) {
      calls.push(call(token));
      // What is called in one turn leaves together.
      if (token % 10 === 9) await settle();
    }
    await settle();
    await crash(server, watched);
    const outcomes = await Promise.all(calls);
    const failed = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome] : []));
    const done = outcomes.flatMap((outcome) => ('text' in outcome ? [outcome] : []));
    expect(failed.length).toBeGreaterThan(0);
    expect(done.length).toBeGreaterThan(0);
    for (const { error } of failed) expect(error).toMatchObject({ sent: 'maybe', generation: 1 });
    for (const { token, text } of done) expect(text).toBe(`noted ${token}`);
    expect(server.ran()).toEqual(done.map(({ token }) => token));
  });

  it('wait in our queue for room, and go on to the new process in their order', async () => {
    const server = programmed();
    const { chat, ...watched } = await meet(server, { maxInFlight: 1 });
    const held = failure(chat.callTool('hold', { token: 'held' }));
    await until('it is held', () => server.ran().length === 1);
    const queued = [1, 2, 3].map((token) => chat.callTool('note', { token }));
    await settle();
    expect((await watched.host.status()).servers['a']).toMatchObject({ inFlight: 1, queued: 3 });
    await crash(server, watched);
    expect(await held).toMatchObject({ sent: 'maybe', generation: 1 });
    expect((await Promise.all(queued)).map(textOf)).toEqual(['noted 1', 'noted 2', 'noted 3']);
    expect(server.ran()).toEqual(['held', 1, 2, 3]);
  });
});

describe('calls that may run twice', () => {
  it('are made once more, and not a third time, when their maker says so', async () => {
    const server = programmed();
    const { chat, ...watched } = await meet(server);
    const call = failure(chat.callTool('die', { token: 'x' }, { retry: 'safe' }));
    watched.clock.advance((await watched.seen.nth('restart')).delayMs);
    await watched.seen.nth('restart', 2);
    expect(await call).toMatchObject({ code: 'CHILD_EXITED', sent: 'maybe', generation: 2 });
    expect(server.ran()).toEqual(['x', 'x']);
  });

  it('succeed on the new process', async () => {
    const server = programmed();
    const { chat, ...watched } = await meet(server);
    const call = chat.callTool('hold', { token: 'x' }, { retry: 'safe' });
    await until('it runs', () => server.ran().length === 1);
    await crash(server, watched);
    await until('it runs again', () => server.ran().length === 2);
    process.kill(server.starts()[1]!, 'SIGUSR2');
    expect(textOf(await call)).toBe('released');
  });

  test.each([
    ['readOnlyHint', true, true],
    ['idempotentHint', true, true],
    ['readOnlyHint', false, false],
    ['destructiveHint', true, false],
  ] as const)('by the hint %s with trustHints %s: %s', async (hint, trustHints, again) => {
    const server = programmed({ eras: 'dual', tools: { hinted: { [hint]: true } }, dieOn: 'tools/call' });
    const clock = new FakeClock();
    const watched = openHost({ clock, servers: { a: server.definition({ trustHints }) } });
    await watched.host.start('a');
    await watched.seen.nth('receipt');
    server.becomes({ tools: { hinted: {} } });
    const chat = watched.host.conversation('a');
    const call = chat.callTool('hinted').then(textOf, (error) => error);
    clock.advance((await watched.seen.nth('restart')).delayMs);
    if (again) expect(await call).toBe('hinted');
    else expect(await call).toMatchObject({ code: 'CHILD_EXITED', sent: 'maybe', generation: 1 });
  });
});

describe('a call whose deadline passes', () => {
  it('fails for itself; the process and its other calls live on', async () => {
    const server = programmed();
    const { seen, clock, chat } = await meet(server);
    const slow = failure(chat.callTool('hold', {}, { timeoutMs: 1000 }));
    const patient = chat.callTool('hold');
    await until('both run', () => server.ran().length === 2);
    clock.advance(1000);
    expect(await slow).toMatchObject({ code: 'TIMED_OUT', sent: 'maybe', generation: 1 });
    process.kill(server.starts()[0]!, 'SIGUSR2');
    expect(textOf(await patient)).toBe('released');
    expect(seen.all('exit')).toEqual([]);
  });

  it('while it waits for a process certainly did not run', async () => {
    const server = programmed();
    const { seen, clock, chat } = await meet(server);
    process.kill(server.starts()[0]!, 'SIGKILL');
    await seen.nth('restart');
    const call = failure(chat.callTool('note', { token: 1 }, { timeoutMs: 500 }));
    await settle();
    clock.advance(500);
    expect(await call).toMatchObject({ code: 'TIMED_OUT', sent: 'no' });
    clock.advance(500);
    await seen.nth('receipt', 2);
    expect(server.ran()).toEqual([]);
  });
});
