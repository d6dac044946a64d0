import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import type { Client } from '../../../src/client/index.js';
import { failure, isSettled, settle, textOf } from '../../support/client/open-client.js';
import { childrenOf, openHost, programmed, until, zombiesOf } from '../../support/host-lifetime.js';
import { isAlive } from '../../support/process.js';

const whoami = async (chat: Client) => Number(textOf(await chat.callTool('whoami')));

describe('a process for each conversation', () => {
  it('is its own, and ends with it', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition({ processes: 'per-conversation' }) } });
    const one = host.conversation('a');
    const two = host.conversation('a');
    const first = await whoami(one);
    const second = await whoami(two);
    expect(first).not.toBe(second);
    expect(await whoami(one)).toBe(first);
    expect((await host.status()).servers['a']!.processes.map(({ owner, pid }) => [owner, pid])).toEqual([
      ['a#1', first],
      ['a#2', second],
    ]);
    await one.close();
    await until('it is gone', () => !isAlive(first));
    expect(isAlive(second)).toBe(true);
    expect((await host.status()).servers['a']!.processes).toHaveLength(1);
  });

  it('crashes for its own conversation only', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition({ processes: 'per-conversation' }) } });
    const one = host.conversation('a');
    const two = host.conversation('a');
    const second = await whoami(two);
    const held = two.callTool('hold');
    expect(await failure(one.callTool('die'))).toMatchObject({ code: 'CHILD_EXITED', sent: 'maybe' });
    process.kill(second, 'SIGUSR2');
    expect(textOf(await held)).toBe('released');
    expect(await whoami(two)).toBe(second);
  });

  it('is never more than the cap, with 200 calls at once, and leaves no zombie (D-19)', async () => {
    const server = programmed();
    const { host, seen } = openHost({
      servers: {
        // Each is given the time to note its end: the machine is busy with this.
        a: server.definition({
          processes: 'per-conversation',
          maxProcesses: 4,
          shutdown: { closeMs: 20_000 },
        }),
      },
    });
    const before = childrenOf(process.pid).length;
    let most = 0;
    const stop = host.watch(() => {
      // The death watch is one more.
      most = Math.max(most, childrenOf(process.pid).length - before - 1);
    });
    const pids = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const chat = host.conversation('a', { timeoutMs: 120_000 });
        const each = await Promise.all(Array.from({ length: 5 }, () => whoami(chat)));
        await chat.close();
        expect(new Set(each).size).toBe(1);
        return each;
      }),
    );
    stop();
    expect(pids.flat()).toHaveLength(200);
    expect(new Set(pids.flat()).size).toBe(40);
    expect(server.starts()).toHaveLength(40);
    expect(server.mostAlive()).toBeLessThanOrEqual(4);
    expect(most).toBeLessThanOrEqual(4);
    await until('all are gone', () => childrenOf(process.pid).length === before + 1);
    await until('none waits to be reaped', () => zombiesOf(process.pid).length === 0);
    await settle();
    expect(Math.max(...seen.all('queue').map(({ queued }) => queued))).toBe(36);
    expect(await host.status()).toMatchObject({
      processes: 0,
      servers: { a: { queued: 0, conversations: 0 } },
    });
  }, 120_000);

  it('returns to the baseline when 1,000 conversations are abandoned (D-20)', async () => {
    const server = programmed();
    const { host } = openHost({
      servers: {
        a: server.definition({
          processes: 'per-principal',
          maxProcesses: 4,
          idleMs: 20,
          maxQueue: 2000,
          shutdown: { closeMs: 20_000 },
        }),
      },
    });
    const before = childrenOf(process.pid).length;
    // Twenty people, each with fifty windows that nobody ever closes.
    await Promise.all(
      Array.from({ length: 1000 }, async (_, at) => {
        const chat = host.conversation('a', { principal: `person ${at % 20}`, timeoutMs: 120_000 });
        await chat.callTool('echo', { text: 'hello' });
      }),
    );
    await until('all are gone', () => childrenOf(process.pid).length === before + 1, 20_000);
    await until('none waits to be reaped', () => zombiesOf(process.pid).length === 0);
    await settle();
    expect(server.mostAlive()).toBeLessThanOrEqual(4);
    expect(await host.status()).toMatchObject({
      processes: 0,
      servers: { a: { conversations: 1000, inFlight: 0, queued: 0 } },
    });
  }, 120_000);

  it('is waited for in a bounded queue, and then refused as busy', async () => {
    const server = programmed();
    const { host, seen } = openHost({
      servers: { a: server.definition({ processes: 'per-conversation', maxProcesses: 1, maxQueue: 1 }) },
    });
    const [one, two, three] = [host.conversation('a'), host.conversation('a'), host.conversation('a')];
    const first = await whoami(one);
    const waiting = whoami(two);
    await seen.nth('queue');
    const error = await failure(three.callTool('whoami'));
    expect(error).toMatchObject({ name: 'IsthmusError', code: 'BUSY', sent: 'no' });
    expect(error.message).toBe('a is busy: 1 calls wait for a process; try again later');
    expect(seen.all('queue').map(({ queued, refused }) => [queued, refused])).toEqual([
      [1, false],
      [1, true],
    ]);
    expect((await host.status()).servers['a']).toMatchObject({ queued: 1 });
    await one.close();
    expect(await waiting).not.toBe(first);
    // What was refused may come again.
    await two.close();
    expect(await whoami(three)).toBe(server.starts()[2]);
  });

  it('is not started for a call that was refused', async () => {
    const server = programmed();
    const { host, seen } = openHost({
      servers: { a: server.definition({ processes: 'per-conversation', maxProcesses: 1, maxQueue: 2 }) },
    });
    const [one, two, three] = [host.conversation('a'), host.conversation('a'), host.conversation('a')];
    await whoami(one);
    const waiting = [failure(two.callTool('whoami')), failure(two.callTool('whoami'))];
    await seen.nth('queue');
    expect(await failure(three.callTool('whoami'))).toMatchObject({ code: 'BUSY' });
    await two.close();
    await Promise.all(waiting);
    await one.close();
    await seen.nth('exit');
    await until('the place is free again', () => !isAlive(server.starts()[0]!));
    await settle();
    expect(seen.all('start')).toHaveLength(1);
  });

  it('that was refused to somebody who listens does not hold up everybody', async () => {
    const clock = new FakeClock();
    const server = programmed({ resources: true });
    const { host, seen } = openHost({
      clock,
      servers: { a: server.definition({ processes: 'per-conversation', maxProcesses: 1, maxQueue: 0 }) },
    });
    const listener = host.conversation('a');
    const changes = await listener.listen({ tools: true });
    const end = failure(changes[Symbol.asyncIterator]().next());
    process.kill(server.starts()[0]!, 'SIGKILL');
    const { delayMs } = await seen.nth('restart');
    const other = host.conversation('a');
    await other.callTool('whoami');
    clock.advance(delayMs);
    await Promise.race([end, settle()]);
    // Whatever becomes of the subscription: this program goes on, and so does the other conversation.
    expect(await whoami(other)).toBe(server.starts()[1]);
    expect(seen.all('start').length).toBeLessThanOrEqual(3);
    changes.close();
  });
});

describe('a process for each principal', () => {
  it('is shared by the conversations of one and never by those of another', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition({ processes: 'per-principal' }) } });
    const [ann, ann2, bob] = ['ann', 'ann', 'bob'].map((principal) => host.conversation('a', { principal }));
    const first = await whoami(ann!);
    expect(await whoami(ann2!)).toBe(first);
    const second = await whoami(bob!);
    expect(second).not.toBe(first);
    expect((await host.status()).servers['a']!.processes.map(({ owner }) => owner)).toEqual(['ann', 'bob']);
    await ann!.close();
    await ann2!.close();
    expect(isAlive(first)).toBe(true);
    expect(await whoami(host.conversation('a', { principal: 'ann' }))).toBe(first);
  });

  it('is not had by a conversation that does not say whose it is', () => {
    const { host } = openHost({ servers: { a: { command: 'x', processes: 'per-principal' } } });
    expect(() => host.conversation('a')).toThrow(
      'a has a process per principal: open its conversations with a principal',
    );
  });

  it('is ended after five minutes without use', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({
      clock,
      servers: { a: server.definition({ processes: 'per-principal' }) },
    });
    const pid = await whoami(host.conversation('a', { principal: 'ann' }));
    await seen.nth('receipt');
    clock.advance(299_999);
    await settle();
    expect(seen.all('drain')).toEqual([]);
    clock.advance(1);
    await seen.nth('exit');
    expect(isAlive(pid)).toBe(false);
  });

  it('whose owners have all gone is forgotten: the status does not grow with everybody who ever came', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({
      clock,
      servers: { a: server.definition({ processes: 'per-principal', idleMs: 1000 }) },
    });
    for (const principal of ['ann', 'bob', 'cleo']) {
      const chat = host.conversation('a', { principal });
      await whoami(chat);
      await chat.close();
    }
    await seen.nth('receipt', 3);
    clock.advance(1000);
    await seen.nth('exit', 3);
    await settle();
    expect((await host.status()).servers['a']).toMatchObject({ conversations: 0, processes: [] });
  });
});

describe('a pool', () => {
  it('is warm as a whole, and each call goes where least is to do', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition({ processes: { pool: 3 } }) } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await seen.nth('ready', 3);
    const held = [1, 2, 3].map((token) => chat.callTool('hold', { token }));
    await until('all run', () => server.ran().length === 3);
    const runs = server.journal().filter(({ what }) => what === 'run');
    const busy = runs.map(({ pid }) => pid);
    expect(new Set(busy)).toEqual(new Set(server.starts()));
    const second = runs.find(({ token }) => token === 2)!.pid;
    process.kill(second, 'SIGUSR2');
    await held[1];
    expect(await whoami(chat)).toBe(second);
    expect((await host.status()).servers['a']).toMatchObject({ inFlight: 2, model: { pool: 3 } });
    for (const pid of busy) process.kill(pid, 'SIGUSR2');
    expect((await Promise.all(held)).map(textOf)).toEqual(['released', 'released', 'released']);
  });

  it('is warm before anybody comes when it is eager', async () => {
    const server = programmed();
    const { host, seen } = openHost({
      servers: { a: server.definition({ processes: { pool: 3 }, start: 'eager' }) },
    });
    await seen.nth('receipt', 3);
    expect(await host.status()).toMatchObject({ processes: 3, servers: { a: { ready: true } } });
  });

  it('serves on while one of it crashes, which is started again', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({
      clock,
      servers: { a: server.definition({ processes: { pool: 2 } }) },
    });
    const chat = host.conversation('a');
    await host.start('a');
    await seen.nth('receipt', 2);
    const [first, second] = server.starts();
    process.kill(first!, 'SIGKILL');
    const { delayMs } = await seen.nth('restart');
    expect(await whoami(chat)).toBe(second);
    expect(await whoami(host.conversation('a'))).toBe(second);
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready', ready: true });
    clock.advance(delayMs);
    await seen.nth('receipt', 3);
    expect((await host.status()).processes).toBe(2);
  });

  it('is restarted as a whole', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition({ processes: { pool: 2 } }) } });
    await host.start('a');
    const old = server.starts();
    await host.restart('a');
    expect(old.filter(isAlive)).toEqual([]);
    expect(server.starts().filter(isAlive)).toHaveLength(2);
    expect(server.mostAlive()).toBeLessThanOrEqual(2);
  });

  it('that overlaps is restarted as a whole with one process more than it has', async () => {
    const server = programmed();
    const { host } = openHost({
      servers: { a: server.definition({ processes: { pool: 2 }, overlap: true }) },
    });
    await host.start('a');
    const old = server.starts();
    await host.restart('a');
    await until('the old ones are gone', () => old.filter(isAlive).length === 0);
    expect(server.starts().filter(isAlive)).toHaveLength(2);
    expect(server.mostAlive()).toBeLessThanOrEqual(3);
  });
});

describe('room in a process', () => {
  it('is bounded, then there is a queue, and then a refusal', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition({ maxInFlight: 2, maxQueue: 1 }) } });
    await host.start('a');
    const one = host.conversation('a');
    const two = host.conversation('a');
    await one.callTool('whoami');
    await two.callTool('whoami');
    const held = [one.callTool('hold'), two.callTool('hold')];
    await until('both run', () => server.ran().length === 2);
    const queued = two.callTool('note', { token: 'queued' });
    await seen.nth('queue');
    const error = await failure(one.callTool('note', { token: 'refused' }));
    expect(error).toMatchObject({ code: 'BUSY', sent: 'no' });
    expect(error.message).toBe('a is busy: all 2 slots are taken and 1 wait; try again later');
    expect((await host.status()).servers['a']).toMatchObject({ inFlight: 2, queued: 1 });
    process.kill(server.starts()[0]!, 'SIGUSR2');
    await Promise.all(held);
    expect(textOf(await queued)).toBe('noted queued');
    expect(server.ran()).toEqual([undefined, undefined, 'queued']);
  });

  it('is waited for no longer than the call may take', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition({ maxInFlight: 1 }) } });
    const chat = host.conversation('a');
    const held = chat.callTool('hold');
    await until('it runs', () => server.ran().length === 1);
    const abort = new AbortController();
    const late = failure(chat.callTool('note', { token: 1 }, { timeoutMs: 1000 }));
    const unwanted = failure(chat.callTool('note', { token: 2 }, { signal: abort.signal }));
    await seen.nth('queue', 2);
    clock.advance(1000);
    expect(await late).toMatchObject({ code: 'TIMED_OUT', sent: 'no' });
    abort.abort();
    expect(await unwanted).toMatchObject({ code: 'CANCELLED', sent: 'no' });
    expect((await host.status()).servers['a']).toMatchObject({ queued: 0 });
    process.kill(server.starts()[0]!, 'SIGUSR2');
    await held;
    expect(server.ran()).toEqual([undefined]);
  });

  it('bounds those who wait for a process that is starting', async () => {
    const server = programmed({ deaf: true });
    const { host } = openHost({ servers: { a: server.definition({ maxQueue: 2 }) } });
    const calls = Array.from({ length: 4 }, () => failure(host.conversation('a').callTool('whoami')));
    await until('it is started', () => server.starts().length === 1);
    expect(await isSettled(calls[0]!)).toBe(false);
    expect(await isSettled(calls[1]!)).toBe(false);
    for (const refused of calls.slice(2)) {
      expect(await isSettled(refused)).toBe(true);
      expect(await refused).toMatchObject({ code: 'BUSY', sent: 'no' });
    }
  });
});

describe('the cap of the host', () => {
  it('holds for all servers together; whoever waits gets the first place that is free', async () => {
    const clock = new FakeClock();
    const one = programmed();
    const two = programmed();
    const { host, seen } = openHost({
      clock,
      maxProcesses: 1,
      servers: { one: one.definition({ idleMs: 1000 }), two: two.definition() },
    });
    await host.conversation('one').callTool('whoami');
    await seen.nth('receipt');
    const call = whoami(host.conversation('two'));
    expect(await isSettled(call)).toBe(false);
    expect(await host.status()).toMatchObject({ processes: 1, maxProcesses: 1 });
    expect(two.starts()).toEqual([]);
    clock.advance(1000);
    expect(await call).toBe(two.starts()[0]);
    expect(one.starts().filter(isAlive)).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN])('must be a number of processes: %s', (maxProcesses) => {
    expect(() => openHost({ maxProcesses })).toThrow('maxProcesses must be a positive whole number');
  });
});
