import { once } from 'node:events';
import type { GatewayServerStatus } from '@isthmus/gateway/internal/server-state.js';
import { describe, expect, it } from 'vitest';
import { line, unit } from '../../../gateway/test/support/control.js';
import { runLogs } from '../../src/commands/gateway/logs.js';
import { type Action, runAction } from '../../src/control/act.js';
import { freePlace, openFake, work } from '../support/control.js';

describe('restart, stop and start', () => {
  it.each<[Action, GatewayServerStatus['state'], string]>([
    ['restart', 'ready', 'a was restarted: ready, legacy'],
    ['start', 'ready', 'a was started: ready, legacy'],
    ['stop', 'off', 'a was stopped; isthmus start a starts it again'],
  ])('%s tells the gateway, and says how the server is then', async (action, state, says) => {
    const place = freePlace();
    const gateway = await openFake(place, { status: { servers: { a: unit('a', { state }) } } });
    const { code, stdout } = await work((context) => runAction(action, 'a', {}, context), place);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${says}\n` });
    expect(gateway.asked.filter((what) => what !== 'status')).toEqual([`${action} a`]);
  });

  it('wait until the server has come up', async () => {
    const place = freePlace();
    const states: GatewayServerStatus['state'][] = ['ready', 'starting', 'restarting', 'ready'];
    await openFake(place, {
      status: {
        get servers() {
          return { a: unit('a', { state: states.shift() ?? 'ready' }) };
        },
      },
    });
    const { stdout } = await work((context) => runAction('restart', 'a', {}, context), place);
    expect(stdout).toBe('a was restarted: ready, legacy\n');
    expect(states).toEqual([]);
  });

  it('fail with the reason and the next step when the server has failed afterwards', async () => {
    const place = freePlace();
    const reason = 'a stopped with code 1 after 3 ms';
    await openFake(place, { status: { servers: { a: unit('a', { state: 'failed', reason }) } } });
    const { code, stdout, error } = await work((context) => runAction('restart', 'a', {}, context), place);
    expect({ code, stdout, message: error?.message, hint: error?.hint }).toEqual({
      code: 1,
      stdout: '',
      message: 'a was restarted and failed: stopped with code 1 after 3 ms',
      hint: 'isthmus logs a shows its output; isthmus doctor a explains the problem',
    });
  });

  it('fail when the gateway cannot do it', async () => {
    const place = freePlace();
    await openFake(place, {
      status: { servers: { a: unit('a') } },
      restart: () => Promise.reject(new Error('a is being closed')),
    });
    const { code, error } = await work((context) => runAction('restart', 'a', {}, context), place);
    expect([code, error?.message]).toEqual([1, 'a is being closed']);
  });

  it('do nothing for a server that is not there', async () => {
    const place = freePlace();
    const gateway = await openFake(place, { status: { servers: { a: unit('a') } } });
    const { code, error } = await work((context) => runAction('stop', 'b', {}, context), place);
    expect([code, error?.message]).toEqual([2, 'The gateway has no server "b"']);
    expect(gateway.asked).not.toContain('stop b');
  });
});

describe('logs', () => {
  const servers = { a: unit('a'), b: unit('b') };
  const at = Date.parse('2026-07-28T09:00:00.500Z');
  async function* some() {
    yield { ...line('hello \u001b[31mred', 'a'), at };
    yield { ...line('slow', 'b'), at, source: 'log' as const, level: 'warning' };
    yield { ...line('ready after 12 ms', 'a'), at, source: 'gateway' as const, missed: 7 };
  }

  it('are lines with their time and server', async () => {
    const place = freePlace();
    const gateway = await openFake(place, { status: { servers }, logs: some });
    const { code, stdout } = await work((context) => runLogs(undefined, { lines: 50 }, context), place);
    expect(stdout).toBe(
      [
        '2026-07-28T09:00:00.500Z a hello red',
        '2026-07-28T09:00:00.500Z b [warning] slow',
        '2026-07-28T09:00:00.500Z a -- 7 lines were left out',
        '2026-07-28T09:00:00.500Z a -- ready after 12 ms',
        '',
      ].join('\n'),
    );
    expect(code).toBe(0);
    expect(gateway.asked).toContain('logs * 50');
  });

  it('are without the name where one server was asked for, and JSON for programs', async () => {
    const place = freePlace();
    const gateway = await openFake(place, { status: { servers }, logs: some });
    const one = await work((context) => runLogs('a', { lines: 1 }, context), place);
    expect(one.stdout.split('\n')[0]).toBe('2026-07-28T09:00:00.500Z hello red');
    const json = await work((context) => runLogs('a', { lines: 1, json: true }, context), place);
    expect(
      json.stdout
        .trim()
        .split('\n')
        .map((each) => JSON.parse(each).text),
    ).toEqual(['hello \u001b[31mred', 'slow', 'ready after 12 ms']);
    expect(gateway.asked).toContain('logs a 1');
  });

  it('continue with -f until the signal', async () => {
    const place = freePlace();
    const gateway = await openFake(place, {
      async *logs(_name, _options, signal) {
        yield line('first');
        await once(signal, 'abort');
      },
    });
    const enough = new AbortController();
    const ran = work(async (context) => {
      context.terminal.stdout.once('readable', () => enough.abort());
      return runLogs(undefined, { lines: 0, follow: true }, { ...context, signal: enough.signal });
    }, place);
    expect((await ran).code).toBe(0);
    expect((await ran).stderr).toBe('');
    expect(gateway.asked).toEqual(['status', 'logs * 0 follow']);
  });

  it('end with a message when the gateway ends', async () => {
    const place = freePlace();
    await openFake(place, {
      async *logs() {
        yield line('last words');
      },
    });
    const { code, stderr } = await work(
      (context) => runLogs(undefined, { lines: 1, follow: true }, context),
      place,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'isthmus: the gateway has exited\n' });
  });
});
