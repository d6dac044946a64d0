import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import type { Client } from '../../../src/client/index.js';
import { treeFacts } from '../../../src/process/process-facts.js';
import { failure, settle, textOf } from '../../support/client/open-client.js';
import {
  openHost,
  type Programmed,
  programmed,
  type Stage,
  until,
  type Watched,
} from '../../support/host-lifetime.js';
import { isAlive, onLinux } from '../../support/process.js';

/** Numbers that nothing else waits for: what is planned tells what is going on. */
const EVERY_MS = 10_007;
const ANSWER_MS = 1234;

class NotingClock extends FakeClock {
  readonly #planned: number[] = [];

  override after(ms: number, action: () => void): () => void {
    this.#planned.push(ms);
    return super.after(ms, action);
  }

  /** Waits until so many waits of this length have begun. */
  async planned(ms: number, count: number): Promise<void> {
    await until(
      `${count} waits of ${ms} ms`,
      () => this.#planned.filter((each) => each === ms).length >= count,
    );
  }
}

interface LookedAfter extends Watched {
  readonly clock: NotingClock;
  readonly chat: Client;
  readonly server: Programmed;
  readonly pid: number;
  /** Lets the process be asked for the n-th time; `passedMs` of the time until then have passed already. */
  ask(count?: number, passedMs?: number): Promise<void>;
}

async function lookAfter(stage: Stage, maxSilentMs = 60_000): Promise<LookedAfter> {
  const clock = new NotingClock();
  const server = programmed(stage);
  const health = { everyMs: EVERY_MS, timeoutMs: ANSWER_MS, maxSilentMs };
  const { host, seen } = openHost({ clock, servers: { a: server.definition({ health }) } });
  const chat = host.conversation('a');
  await chat.callTool('whoami');
  await seen.nth('receipt');
  const ask = async (count = 1, passedMs = 0) => {
    await clock.planned(EVERY_MS, count);
    clock.advance(EVERY_MS - passedMs);
    await clock.planned(ANSWER_MS, count);
  };
  return { host, seen, clock, chat, server, pid: server.starts()[0]!, ask };
}

describe.runIf(onLinux)('a process that is looked after', () => {
  it.each([
    ['legacy', 'tools/list'],
    ['modern', 'server/discover'],
  ] as const)('and answers lives on: %s, by %s', async (eras, question) => {
    const { seen, server, pid, ask, clock } = await lookAfter({ eras });
    const count = () => server.got(pid).filter((method) => method === question).length;
    const before = count();
    for (let looks = 1; looks <= 3; looks += 1) await ask(looks);
    // The fourth look is planned when the third question was answered.
    await clock.planned(EVERY_MS, 4);
    expect(count()).toBe(before + 3);
    expect(seen.all('kill')).toEqual([]);
    expect(isAlive(pid)).toBe(true);
  });

  it('is not asked for a ping: one that never answers a ping lives', async () => {
    const { seen, clock, chat, server, pid, ask } = await lookAfter({ eras: 'legacy', silentOn: 'ping' });
    await ask();
    await clock.planned(EVERY_MS, 2);
    clock.advance(ANSWER_MS);
    await settle();
    expect(server.got(pid)).not.toContain('ping');
    expect(seen.all('kill')).toEqual([]);
    expect(textOf(await chat.callTool('whoami'))).toBe(String(pid));
  });

  it('and answers with an error lives: that is an answer, too', async () => {
    const { seen, clock, ask, pid } = await lookAfter({ eras: 'legacy', failOn: 'tools/list' });
    await ask();
    await clock.planned(EVERY_MS, 2);
    expect(seen.all('kill')).toEqual([]);
    expect(isAlive(pid)).toBe(true);
  });

  it('and was stopped (SIGSTOP) is killed and replaced', async () => {
    const { seen, clock, chat, server, pid, host, ask } = await lookAfter({});
    process.kill(pid, 'SIGSTOP');
    // The signal is on its way when `kill` returns.
    await until('it stands still', () => / T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')));
    await ask();
    clock.advance(ANSWER_MS);
    const kill = await seen.nth('kill');
    expect(kill).toMatchObject({ generation: 1, pid, why: 'it is stopped, and sent no message for 1234 ms' });
    const exit = await seen.nth('exit');
    expect(exit).toMatchObject({ generation: 1, pid, phase: 'run', expected: false });
    clock.advance((await seen.nth('restart')).delayMs);
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
    expect(isAlive(pid)).toBe(false);
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready', restarts: 1 });
  });

  it('and neither answers nor works is killed and replaced', async () => {
    const { seen, clock, chat, server, pid, ask } = await lookAfter({});
    await chat.callTool('close-ears');
    await ask();
    clock.advance(ANSWER_MS);
    const kill = await seen.nth('kill');
    expect(kill.why).toMatch(
      /^it sent no message for 1234 ms, and used the processor for \d+ of the last 1234 ms$/,
    );
    clock.advance((await seen.nth('restart')).delayMs);
    await seen.nth('ready', 2);
    expect(server.starts()).toHaveLength(2);
    expect(isAlive(pid)).toBe(false);
  });

  /** Nobody waits for it any more, but it is at work still; and then it is asked for something else. */
  async function askWhileItWorks({ clock, chat, server, pid, ask }: LookedAfter): Promise<void> {
    const abandoned = failure(chat.callTool('spin', { ms: 25_000 }, { timeoutMs: 1000 }));
    await until('it spins', () => server.ran().includes('spin'));
    clock.advance(1000);
    expect(await abandoned).toMatchObject({ code: 'TIMED_OUT', sent: 'maybe' });
    await ask(1, 1000);
    const { cpuMs } = (await treeFacts(pid))!;
    for (let now = cpuMs; now < cpuMs + 300; ) now = (await treeFacts(pid))!.cpuMs;
    clock.advance(ANSWER_MS);
  }

  it('and is silent because it works is left alone', async () => {
    const after = await lookAfter({});
    await askWhileItWorks(after);
    // Another look is planned, and that is all.
    await after.clock.planned(EVERY_MS, 2);
    expect(after.seen.all('kill')).toEqual([]);
    expect(isAlive(after.pid)).toBe(true);
  });

  it('and works for longer than anybody can wait is killed', async () => {
    const after = await lookAfter({}, ANSWER_MS);
    await askWhileItWorks(after);
    expect((await after.seen.nth('kill')).why).toMatch(
      /^it sent no message for 1234 ms, and used the processor for \d{3,} of the last 1234 ms$/,
    );
    await until('it is gone', () => !isAlive(after.pid));
  });

  it('and is busy with a call is left alone, however long that takes', async () => {
    const { seen, clock, chat, server, pid } = await lookAfter({});
    const before = server.got(pid).length;
    const held = chat.callTool('hold', {}, { timeoutMs: 10_000_000 });
    await until('it runs', () => server.ran().length === 1);
    process.kill(pid, 'SIGSTOP');
    for (let looks = 1; looks <= 20; looks += 1) {
      await clock.planned(EVERY_MS, looks);
      clock.advance(EVERY_MS);
    }
    await clock.planned(EVERY_MS, 21);
    expect(seen.all('kill')).toEqual([]);
    process.kill(pid, 'SIGCONT');
    process.kill(pid, 'SIGUSR2');
    expect(textOf(await held)).toBe('released');
    expect(server.got(pid)).toHaveLength(before + 1);
  });

  it('without a wish for it is never asked', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition() } });
    await host.conversation('a').callTool('whoami');
    await seen.nth('receipt');
    const before = server.got(server.starts()[0]!).length;
    clock.advance(10_000_000);
    await settle();
    expect(server.got(server.starts()[0]!)).toHaveLength(before);
  });
});
