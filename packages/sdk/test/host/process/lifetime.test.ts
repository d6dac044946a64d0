import { describe, expect, it, test } from 'vitest';
import { fixture } from '../../../../../test/support/child.js';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { failure, isSettled, settle, textOf } from '../../support/client/open-client.js';
import { childrenOf, openHost, programmed, QUICK, until } from '../../support/host-lifetime.js';
import { isAlive } from '../../support/process.js';

describe('the process of a server', () => {
  it('starts with the first use, serves many conversations and outlives them', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    const one = host.conversation('a');
    const two = host.conversation('a');
    await settle();
    expect(seen.events).toEqual([]);
    expect((await host.status()).servers['a']).toMatchObject({
      state: 'idle',
      ready: false,
      conversations: 2,
    });
    const pids = await Promise.all(
      [one, two, one].map(async (chat) => textOf(await chat.callTool('whoami'))),
    );
    const [pid] = server.starts();
    expect(pids).toEqual([String(pid), String(pid), String(pid)]);
    await one.close();
    await two.close();
    expect(isAlive(pid!)).toBe(true);
    expect(textOf(await host.conversation('a').callTool('whoami'))).toBe(String(pid));
    expect(server.starts()).toEqual([pid]);
  });

  it('starts with the host when it is eager, without any conversation', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition({ start: 'eager' }) } });
    await seen.nth('receipt');
    expect((await host.status()).servers['a']).toMatchObject({
      state: 'ready',
      ready: true,
      conversations: 0,
    });
  });

  it('is started by start(), which settles when it has answered', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    await Promise.all([host.start('a'), host.start('a')]);
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready' });
    expect(server.starts()).toHaveLength(1);
  });

  it('is the same for 10,000 calls of a thousand conversations: the number of children stays flat (D-5)', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    await host.start('a');
    const children = childrenOf(process.pid);
    // A child of an earlier test may end meanwhile.
    const more = () => childrenOf(process.pid).filter((pid) => !children.includes(pid));
    for (let round = 0; round < 1000; round += 1) {
      const chat = host.conversation('a');
      await Promise.all(Array.from({ length: 10 }, () => chat.callTool('echo', { text: 'x' })));
      await chat.close();
      if (round % 100 === 0) expect(more()).toEqual([]);
    }
    expect(more()).toEqual([]);
    expect(server.starts()).toHaveLength(1);
    expect((await host.status()).servers['a']).toMatchObject({ conversations: 0, inFlight: 0, queued: 0 });
  });
});

describe('a conversation', () => {
  it('that is closed fails its own call at once, and nobody else notices (D-6)', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    const one = host.conversation('a');
    const two = host.conversation('a');
    const mine = failure(one.callTool('hold'));
    const other = two.callTool('hold');
    await until('both run', () => server.ran().length === 2);
    await one.close();
    expect(await mine).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    process.kill(server.starts()[0]!, 'SIGUSR2');
    expect(textOf(await other)).toBe('released');
    expect((await host.status()).servers['a']).toMatchObject({ conversations: 1, inFlight: 0 });
    expect(await failure(one.callTool('echo'))).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
  });

  it('with an unknown server is refused by the names that there are', () => {
    const { host } = openHost({ servers: { a: { command: 'x' }, b: { command: 'x' } } });
    expect(() => host.conversation('c')).toThrow('There is no server "c"; there are a, b');
    expect(() => openHost().host.conversation('c')).toThrow('There is no server "c"; there are none');
    // A name that objects have anyway is no server either.
    expect(() => host.conversation('toString')).toThrow('There is no server "toString"');
  });

  it('with a server that is switched off may be opened, and works when it is switched on', async () => {
    const server = programmed();
    const { host, seen } = openHost({
      servers: { a: server.definition({ disabled: true, start: 'eager' }) },
    });
    const chat = host.conversation('a');
    expect(await failure(chat.callTool('whoami'))).toMatchObject({
      code: 'DISABLED',
      sent: 'no',
      message: 'a is switched off; enable it to use it',
    });
    expect(await failure(host.start('a'))).toMatchObject({ code: 'DISABLED' });
    expect((await host.status()).servers['a']).toMatchObject({
      enabled: false,
      state: 'stopped',
      ready: false,
    });
    expect(seen.all('start')).toEqual([]);
    await host.enable('a');
    await host.enable('a');
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[0]));
    expect(server.starts()).toHaveLength(1);
  });

  it('with a host that is closed is refused, and so is everything else', async () => {
    const { host } = openHost({ servers: { a: { command: 'x' } } });
    await host.close();
    expect(() => host.conversation('a')).toThrow('The host is closed');
    for (const work of [host.start('a'), host.restart('a'), host.disable('a'), host.enable('a')]) {
      expect(await failure(work)).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
    }
    expect(await failure(host.configure({}))).toMatchObject({ code: 'CONNECTION_CLOSED' });
  });
});

describe('an explicit restart', () => {
  it('lets what is in flight end on the old process; what comes meanwhile goes to the new one', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    const held = chat.callTool('hold');
    await until('it is held', () => server.ran().length === 1);
    const restarted = host.restart('a');
    await seen.nth('drain');
    expect((await host.status()).servers['a']).toMatchObject({
      state: 'draining',
      ready: false,
      inFlight: 1,
    });
    const late = chat.callTool('whoami');
    expect(await isSettled(late)).toBe(false);
    const [old] = server.starts();
    process.kill(old!, 'SIGUSR2');
    expect(textOf(await held)).toBe('released');
    await restarted;
    const [, fresh] = server.starts();
    expect(textOf(await late)).toBe(String(fresh));
    expect(isAlive(old!)).toBe(false);
    expect(server.mostAlive()).toBe(1);
    expect(seen.all('exit')).toMatchObject([{ generation: 1, pid: old, phase: 'run', expected: true }]);
    expect(seen.all('drain')).toMatchObject([{ generation: 1, pid: old, inFlight: 1 }]);
  });

  it('waits for what is in flight no longer than drainMs', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition({ drainMs: 5000 }) } });
    const held = failure(host.conversation('a').callTool('hold'));
    await until('it is held', () => server.ran().length === 1);
    const restarted = host.restart('a');
    await seen.nth('drain');
    await settle();
    clock.advance(4999);
    expect(await isSettled(held)).toBe(false);
    clock.advance(1);
    expect(await held).toMatchObject({ sent: 'maybe', generation: 1 });
    await restarted;
    expect(seen.all('kill')).toMatchObject([
      { generation: 1, why: 'calls were still in flight after 5000 ms' },
    ]);
    expect(server.starts()).toHaveLength(2);
  });

  it('during a restart is one restart after the other', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    const calls = [host.restart('a'), host.restart('a')];
    const during = chat.callTool('whoami');
    await Promise.all(calls);
    expect(server.starts()).toHaveLength(3);
    expect(server.mostAlive()).toBe(1);
    expect(server.starts().map(String)).toContain(textOf(await during));
    expect((await host.status()).servers['a']!.processes[0]).toMatchObject({ state: 'ready', generation: 3 });
  });

  it('of a server that was never used starts it', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    await host.restart('a');
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready' });
  });

  it('sees to the end of a process that dies while it drains, and says how it ended', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    const held = failure(chat.callTool('hold'));
    await until('it is held', () => server.ran().length === 1);
    const restarted = host.restart('a');
    await seen.nth('drain');
    process.kill(server.starts()[0]!, 'SIGKILL');
    expect(await held).toMatchObject({ code: 'CHILD_EXITED', sent: 'maybe', generation: 1 });
    await restarted;
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
    // It was asked to go, but that is not why it ended.
    expect(seen.all('exit')).toHaveLength(1);
    expect(seen.all('exit')[0]).toMatchObject({ generation: 1, expected: false });
    expect(seen.all('exit')[0]!.reason).toContain('SIGKILL');
  });

  it('that overlaps never leaves a moment without a ready process', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition({ overlap: true }) } });
    const chat = host.conversation('a');
    const held = chat.callTool('hold');
    await until('it is held', () => server.ran().length === 1);
    const [old] = server.starts();
    const states = new Set<string>();
    const restarted = host.restart('a');
    let done = false;
    void restarted.then(() => {
      done = true;
    });
    while (!done) {
      states.add((await host.status()).servers['a']!.state);
      expect(server.starts().map(String)).toContain(textOf(await chat.callTool('whoami')));
    }
    expect([...states]).toEqual(['ready']);
    const [, fresh] = server.starts();
    expect(textOf(await chat.callTool('whoami'))).toBe(String(fresh));
    expect(isAlive(old!)).toBe(true);
    process.kill(old!, 'SIGUSR2');
    expect(textOf(await held)).toBe('released');
    await seen.nth('exit');
    expect(isAlive(old!)).toBe(false);
    expect(server.mostAlive()).toBe(2);
  });

  it('that overlaps and fails leaves the old process as it was', async () => {
    const server = programmed({}, { die: 4, say: 'bad day' });
    const { host } = openHost({ servers: { a: server.definition({ overlap: true }) } });
    const chat = host.conversation('a');
    const pid = textOf(await chat.callTool('whoami'));
    const error = await failure(host.restart('a'));
    expect(error).toMatchObject({ code: 'CHILD_EXITED' });
    expect(error.message).toContain('bad day');
    expect(textOf(await chat.callTool('whoami'))).toBe(pid);
  });

  it('that overlaps does not wait for ever for a place that only the old process could give', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition({ overlap: true, maxProcesses: 1 }) } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await host.restart('a');
    expect(server.starts()).toHaveLength(2);
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts().at(-1)));
  });
});

describe('switching off', () => {
  it('lets what is in flight end, ends the process and keeps the conversations', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    const held = chat.callTool('hold');
    await until('it is held', () => server.ran().length === 1);
    const disabled = host.disable('a');
    await seen.nth('drain');
    expect(await failure(chat.callTool('whoami'))).toMatchObject({ code: 'DISABLED', sent: 'no' });
    const [pid] = server.starts();
    process.kill(pid!, 'SIGUSR2');
    expect(textOf(await held)).toBe('released');
    await disabled;
    expect(isAlive(pid!)).toBe(false);
    expect((await host.status()).servers['a']).toMatchObject({
      enabled: false,
      state: 'stopped',
      conversations: 1,
    });
    expect((await host.status()).processes).toBe(0);
    expect(await failure(host.restart('a'))).toMatchObject({ code: 'DISABLED' });
    await host.enable('a');
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
  });

  it('calls a start off that is under way, and tells whoever waits', async () => {
    const server = programmed({ silent: true }, {});
    const { host } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    const call = failure(chat.callTool('whoami'));
    const started = failure(host.start('a'));
    await until('it was spoken to', () => server.journal().some(({ what }) => what === 'got'));
    await host.disable('a');
    expect(await call).toMatchObject({ sent: 'no' });
    expect((await call).message).toContain('switched off');
    expect((await started).message).toContain('switched off');
    expect(server.starts().filter(isAlive)).toEqual([]);
    await host.enable('a');
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
  });
});

describe('another configuration', () => {
  it('with another command: what is in flight ends on the old process, what is new goes to the new one', async () => {
    const old = programmed();
    const fresh = programmed({ eras: 'legacy' });
    const { host, seen } = openHost({ servers: { a: old.definition() } });
    const chat = host.conversation('a');
    const held = chat.callTool('hold');
    await until('it is held', () => old.ran().length === 1);
    const configured = host.configure({ a: fresh.definition() });
    await seen.nth('drain');
    const late = chat.callTool('whoami');
    expect(await isSettled(late)).toBe(false);
    process.kill(old.starts()[0]!, 'SIGUSR2');
    expect(textOf(await held)).toBe('released');
    await configured;
    expect(textOf(await late)).toBe(String(fresh.starts()[0]));
    expect(old.starts().filter(isAlive)).toEqual([]);
    expect(chat.era).toBe('legacy');
  });

  it('that overlaps lets new calls go to the new process while the old one drains', async () => {
    const old = programmed();
    const fresh = programmed();
    const { host } = openHost({ servers: { a: old.definition({ overlap: true }) } });
    const chat = host.conversation('a');
    const held = chat.callTool('hold');
    await until('it is held', () => old.ran().length === 1);
    await host.configure({ a: fresh.definition({ overlap: true }) });
    expect(textOf(await chat.callTool('whoami'))).toBe(String(fresh.starts()[0]));
    process.kill(old.starts()[0]!, 'SIGUSR2');
    expect(textOf(await held)).toBe('released');
    await until('the old one is gone', () => !isAlive(old.starts()[0]!));
  });

  it('touches only what has changed', async () => {
    const same = programmed();
    const gone = programmed();
    const added = programmed();
    const { host } = openHost({ servers: { same: same.definition(), gone: gone.definition() } });
    await Promise.all([host.start('same'), host.start('gone')]);
    const lost = host.conversation('gone');
    await host.configure({ same: same.definition(), added: added.definition({ start: 'eager' }) });
    expect(same.starts()).toHaveLength(1);
    expect(isAlive(same.starts()[0]!)).toBe(true);
    expect(isAlive(gone.starts()[0]!)).toBe(false);
    await until('the new one is started', () => added.starts().length === 1);
    expect(Object.keys((await host.status()).servers)).toEqual(['same', 'added']);
    expect(await failure(lost.callTool('whoami'))).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
    expect(() => host.conversation('gone')).toThrow('There is no server "gone"; there are same, added');
  });

  it('that is invalid changes nothing, not even its valid parts', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    await host.start('a');
    const before = await host.status();
    const error = await failure(
      host.configure({ b: server.definition(), c: { command: 'x', maxInFlight: 0 } }),
    );
    expect(error).toMatchObject({ code: 'INVALID_OPTION' });
    expect(error.message).toBe('Server c: maxInFlight must be a positive whole number, got 0');
    expect(Object.keys((await host.status()).servers)).toEqual(['a']);
    expect((await host.status()).servers['a']!.processes[0]!.pid).toBe(
      before.servers['a']!.processes[0]!.pid,
    );
    expect(seen.all('drain')).toEqual([]);
  });

  it('can switch a server off and on', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await host.configure({ a: server.definition({ disabled: true }) });
    expect(server.starts().filter(isAlive)).toEqual([]);
    expect(await failure(chat.callTool('whoami'))).toMatchObject({ code: 'DISABLED' });
    await host.configure({ a: server.definition() });
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
  });
});

describe('a process that is not used', () => {
  it('is ended after idleMs, and the next call starts another one', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition({ idleMs: 1000 }) } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await seen.nth('receipt');
    clock.advance(999);
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready' });
    // Use starts the time anew.
    await chat.callTool('whoami');
    clock.advance(999);
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready' });
    clock.advance(1);
    await seen.nth('exit');
    expect(server.starts().filter(isAlive)).toEqual([]);
    await settle();
    expect((await host.status()).servers['a']).toMatchObject({ state: 'idle', restarts: 0 });
    expect((await host.status()).processes).toBe(0);
    expect(seen.all('drain')).toMatchObject([{ why: 'was not used for 1000 ms', inFlight: 0 }]);
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
    expect(seen.all('restart')).toEqual([]);
  });

  it('is kept while a call is in flight, and while somebody listens', async () => {
    const clock = new FakeClock();
    const server = programmed({ resources: true });
    const { host, seen } = openHost({ clock, servers: { a: server.definition({ idleMs: 1000 }) } });
    const chat = host.conversation('a');
    const held = chat.callTool('hold');
    await until('it is held', () => server.ran().length === 1);
    clock.advance(5000);
    process.kill(server.starts()[0]!, 'SIGUSR2');
    await held;
    const changes = await chat.listen({ tools: true });
    clock.advance(5000);
    await settle();
    expect(seen.all('drain')).toEqual([]);
    changes.close();
    await settle();
    clock.advance(1000);
    await seen.nth('exit');
    expect(server.starts().filter(isAlive)).toEqual([]);
  });

  it('is not missed by a call that comes in the very turn in which it is ended', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition({ idleMs: 1000 }) } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await seen.nth('receipt');
    clock.advance(1000);
    const call = chat.callTool('whoami');
    expect(textOf(await call)).toBe(String(server.starts()[1]));
    // And one that comes while the old process is on its way out.
    await seen.nth('receipt', 2);
    clock.advance(1000);
    await settle();
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[2]));
    expect(server.mostAlive()).toBe(1);
  });

  test.each(['listen', 'setLogLevel'] as const)(
    'is not missed by a %s that comes in the very turn in which it is ended',
    async (what) => {
      const clock = new FakeClock();
      const server = programmed({ resources: true, eras: 'legacy' });
      const { host, seen } = openHost({ clock, servers: { a: server.definition({ idleMs: 1000 }) } });
      const chat = host.conversation('a');
      await chat.callTool('whoami');
      await seen.nth('receipt');
      clock.advance(1000);
      if (what === 'listen') (await chat.listen({ tools: true, uris: ['memo://1'] })).close();
      else await chat.setLogLevel('debug');
      expect(server.starts()).toHaveLength(2);
    },
  );
});

describe('a process that is old', () => {
  it('is replaced by a fresh one when what is in flight is done', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({
      clock,
      servers: { a: server.definition({ maxAgeMs: 10_000 }) },
    });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await seen.nth('receipt');
    const held = chat.callTool('hold', { token: 'before' });
    await until('it is held', () => server.ran().length === 1);
    clock.advance(9999);
    expect(seen.all('drain')).toEqual([]);
    clock.advance(1);
    await seen.nth('drain');
    const late = chat.callTool('whoami');
    process.kill(server.starts()[0]!, 'SIGUSR2');
    expect(textOf(await held)).toBe('released');
    expect(textOf(await late)).toBe(String(server.starts()[1]));
    expect(server.mostAlive()).toBe(1);
    expect(seen.all('restart')).toEqual([]);
    // The fresh one has an age of its own.
    await seen.nth('receipt', 2);
    clock.advance(10_000);
    await seen.nth('ready', 3);
  });
});

describe('the end of the host', () => {
  it('ends what ignores both the end of its input and SIGTERM', async () => {
    const server = programmed({ stubborn: true });
    const { host } = openHost({ servers: { a: server.definition() } });
    await host.start('a');
    await host.close();
    expect(server.starts().filter(isAlive)).toEqual([]);
  });

  it('fails what is in flight at once, and may be asked for twice and at the same time', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    const held = failure(host.conversation('a').callTool('hold'));
    await until('it is held', () => server.ran().length === 1);
    await Promise.all([host.close(), host.close({ drainMs: 60_000 })]);
    await host.close();
    expect(await held).toMatchObject({ sent: 'maybe' });
    expect(server.starts().filter(isAlive)).toEqual([]);
  });

  it('lets what is in flight take drainMs, and refuses what is new', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    const held = chat.callTool('hold');
    await until('it is held', () => server.ran().length === 1);
    const closed = host.close({ drainMs: 20_000 });
    await seen.nth('drain');
    expect(await failure(chat.callTool('whoami'))).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
    process.kill(server.starts()[0]!, 'SIGUSR2');
    expect(textOf(await held)).toBe('released');
    await closed;
    expect(server.starts().filter(isAlive)).toEqual([]);
  });

  it('settles while a server is starting that says nothing', async () => {
    const server = programmed({ silent: true });
    const { host } = openHost({ servers: { a: server.definition() } });
    const call = failure(host.conversation('a').callTool('whoami'));
    await until('it was spoken to', () => server.journal().some(({ what }) => what === 'got'));
    await host.close();
    expect(await call).toMatchObject({ sent: 'no' });
    expect(server.starts().filter(isAlive)).toEqual([]);
  });

  it('settles while a server is backing off, and nothing is started afterwards', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    process.kill(server.starts()[0]!, 'SIGKILL');
    await seen.nth('restart');
    const call = failure(chat.callTool('whoami'));
    await settle();
    await host.close();
    expect(await call).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
    clock.advance(60_000);
    await settle();
    expect(seen.all('start')).toHaveLength(1);
    expect(clock.waiting).toBe(0);
  });

  it('settles while a server drains for a restart, and the restart starts nothing', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    const held = failure(host.conversation('a').callTool('hold'));
    await until('it is held', () => server.ran().length === 1);
    const restarted = host.restart('a').catch(() => {});
    await seen.nth('drain');
    await host.close();
    await restarted;
    expect(await held).toMatchObject({ sent: 'maybe' });
    expect(seen.all('start')).toHaveLength(1);
  });

  it('settles while the queue is full, and whoever waits is told', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition({ maxInFlight: 1, maxQueue: 2 }) } });
    const chat = host.conversation('a');
    const held = failure(chat.callTool('hold'));
    await until('it is held', () => server.ran().length === 1);
    const waiting = [1, 2].map((token) => failure(chat.callTool('note', { token })));
    expect(await failure(chat.callTool('note', { token: 3 }))).toMatchObject({ code: 'BUSY', sent: 'no' });
    await host.close();
    expect(await held).toMatchObject({ sent: 'maybe' });
    expect(await Promise.all(waiting)).toMatchObject([{ sent: 'no' }, { sent: 'no' }]);
    expect(server.ran()).toEqual([undefined]);
  });

  it('leaves no timer behind', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host } = openHost({
      clock,
      servers: { a: server.definition({ idleMs: 5000, maxAgeMs: 9000, health: {} }) },
    });
    await host.conversation('a').callTool('whoami');
    // How long the server would have been given to answer the probe.
    clock.advance(1000);
    await host.close();
    await settle();
    expect(clock.waiting).toBe(0);
  });
});

describe('a server that cannot be started', () => {
  test.each([
    ['ENOENT', '/no/such/program', 'not found'],
    ['EACCES', fixture('support/line-server.mjs'), 'EACCES'],
  ])('is an error for whoever asked, every time: %s', async (code, command, words) => {
    const good = programmed();
    const { host, seen } = openHost({ servers: { bad: { command }, good: good.definition() } });
    const chat = host.conversation('bad');
    const pid = textOf(await host.conversation('good').callTool('whoami'));
    for (let times = 1; times <= 3; times += 1) {
      const error = await failure(chat.callTool('x'));
      expect(error).toMatchObject({
        name: 'IsthmusError',
        code: 'CANNOT_START',
        sent: 'no',
        generation: times,
      });
      expect(error.cause).toMatchObject({ code });
      expect(error.message).toContain(words);
    }
    expect(seen.kinds('bad')).toEqual(['start', 'exit', 'start', 'exit', 'start', 'exit']);
    const { servers, processes } = await host.status();
    expect(servers['bad']).toMatchObject({ state: 'idle', ready: false, lastExit: { phase: 'start' } });
    expect(processes).toBe(1);
    expect(textOf(await host.conversation('good').callTool('whoami'))).toBe(pid);
  });

  it('beside a good one: the good one serves, the bad one is reported with its reason (D-2)', async () => {
    const good = programmed();
    const dies = programmed({ die: 3, say: 'missing API key' });
    const { host, seen } = openHost({
      servers: {
        absent: { command: '/no/such/program', start: 'eager' },
        dies: dies.definition({ start: 'eager', restart: { attempts: 0 } }),
        good: good.definition({ start: 'eager' }),
      },
    });
    await seen.nth('receipt');
    await seen.nth('crash-loop');
    expect(textOf(await host.conversation('good').callTool('echo', { text: 'hello' }))).toBe('hello');
    const { servers } = await host.status();
    expect(servers['good']).toMatchObject({ state: 'ready', ready: true });
    expect(servers['absent']).toMatchObject({ ready: false });
    expect(servers['absent']!.lastExit!.reason).toContain('/no/such/program');
    expect(servers['dies']).toMatchObject({ state: 'crash-loop', ready: false });
    expect(servers['dies']!.lastExit).toMatchObject({ phase: 'start', stderrTail: 'missing API key\n' });
    expect(servers['dies']!.lastExit!.reason).toContain('code 3');
  });

  it('because it dies at its start is told within a second, with its last stderr lines (D-7)', async () => {
    const server = programmed({ die: 3, say: 'missing API key' });
    const { host } = openHost({ servers: { a: server.definition() } });
    const began = Date.now();
    const error = await failure(host.conversation('a').callTool('whoami'));
    expect(Date.now() - began).toBeLessThan(1000);
    expect(error).toMatchObject({ code: 'CHILD_EXITED', sent: 'no', stderrTail: 'missing API key\n' });
    expect(error.message).toContain('code 3');
    expect(error.message).toContain('missing API key');
    expect(await failure(openHost({ servers: { a: server.definition() } }).host.start('a'))).toMatchObject({
      code: 'CHILD_EXITED',
    });
  });

  it('because it says nothing is given up in time, and no process is left of it (D-25)', async () => {
    const server = programmed({ silent: true, stubborn: true });
    const { host } = openHost({
      servers: { a: server.definition({ connectTimeoutMs: 400, bootMs: 100, silenceMs: 100 }) },
    });
    const error = await failure(host.conversation('a').callTool('whoami'));
    expect(error).toMatchObject({ code: 'TIMED_OUT', sent: 'no' });
    expect(server.starts()).toHaveLength(1);
    expect(server.starts().filter(isAlive)).toEqual([]);
  });
});

it('keeps the options of the command: folder, environment, arguments', async () => {
  const { host } = openHost({
    servers: {
      a: {
        command: 'sh',
        args: ['-c', 'echo "$PWD $GREETING" >&2; exit 9'],
        cwd: '/',
        env: { GREETING: 'hello' },
        shutdown: QUICK,
      },
    },
  });
  const error = await failure(host.start('a'));
  expect(error).toMatchObject({ stderrTail: '/ hello\n' });
});
