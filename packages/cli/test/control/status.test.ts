import type { GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import type { ProcessStatus, ServerStatus } from '@isthmus/sdk/internal/host/status.js';
import { describe, expect, it, vi } from 'vitest';
import { unit } from '../../../gateway/test/support/control.js';
import { runStatus } from '../../src/commands/gateway/status.js';
import { describeBytes, describeDuration, whyOf } from '../../src/control/render-server.js';
import { freePlace, openFake, work } from '../support/control.js';

const NOW = Date.parse('2026-07-28T10:30:00.000Z');

function running(more: Partial<ProcessStatus> = {}): ServerStatus {
  const process: ProcessStatus = {
    state: 'ready',
    generation: 3,
    pid: 4720,
    owner: undefined,
    era: 'legacy',
    verdict: undefined,
    uptimeMs: 3_723_000,
    restarts: 2,
    inFlight: 2,
    parked: 0,
    queued: 1,
    noise: 0,
    unread: undefined,
    receipt: {
      generation: 3,
      pid: 4720,
      handshake: 'initialize',
      handshakeAt: NOW - 60_000,
      list: { method: 'tools/list', items: 4, at: NOW - 59_000 },
      listError: undefined,
      complete: true,
    },
    lastExit: undefined,
    startFailed: false,
    nextAttemptAt: undefined,
    facts: { processes: 1, rssBytes: 47_185_920, cpuMs: 10, stopped: false },
    ...more,
  };
  return {
    name: 'x',
    enabled: true,
    state: process.state,
    ready: true,
    model: 'shared',
    conversations: 1,
    inFlight: 2,
    parked: 0,
    maxParked: 1000,
    queued: 1,
    restarts: 2,
    processes: [process],
    lastExit: undefined,
  };
}

const dead = {
  at: NOW - 5000,
  generation: 6,
  phase: 'start',
  reason: 'notes stopped with code 1 after 30 ms; last stderr: "no key"',
  stderrTail: 'reading config\n\u001b[31mno key\u001b[0m\n',
} as const;

const three: Partial<GatewayStatus> = {
  ready: false,
  servers: {
    weather: unit('weather', { processes: running() }),
    notes: unit('notes', {
      state: 'failed',
      reason: dead.reason,
      era: undefined,
      processes: {
        ...running({ state: 'crash-loop', pid: undefined, facts: undefined, lastExit: dead }),
        lastExit: dead,
      },
    }),
    far: unit('far', { kind: 'url', state: 'asleep', needed: false, era: 'modern' }),
  },
};

describe('isthmus status', () => {
  it('shows a table with a row for each server, and a verdict', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
    const place = freePlace();
    await openFake(place, { status: three });
    const { code, stdout } = await work((context) => runStatus(undefined, {}, context), place);
    vi.useRealTimers();
    expect(stdout.split('\n')).toEqual([
      'isthmus 0.1.0, pid 4711, up 1h30m at http://127.0.0.1:8080/mcp',
      '',
      'server   state   era     pid   gen  uptime  restarts  calls  memory  why',
      'weather  ready   legacy  4720  3    1h02m   2         2+1    45 MB',
      'notes    failed                3            2         2+1            stopped with code 1 after 30 ms; last stderr: "no key"',
      'far      asleep  modern                                              the first call starts it',
      '',
      'Not ready: notes.',
      'hint: isthmus doctor notes explains why, and how to fix it',
      '',
    ]);
    expect(code).toBe(1);
  });

  it('puts the reasons below where there is no room beside', async () => {
    const place = freePlace();
    await openFake(place, { status: three });
    const { stdout } = await work((context) => runStatus(undefined, {}, context), place, 80);
    expect(stdout).toContain('\nserver   state   era     pid   gen  uptime  restarts  calls  memory\n');
    expect(stdout).toContain('\nnotes: stopped with code 1 after 30 ms; last stderr: "no key"\n');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('says in one line that all is well, and ends with 0', async () => {
    const place = freePlace();
    const servers = { a: unit('a'), b: unit('b', { state: 'asleep' }), c: unit('c', { state: 'off' }) };
    await openFake(place, { status: { servers } });
    const { code, stdout } = await work((context) => runStatus(undefined, {}, context), place);
    expect(stdout).toContain('\nEverything is ok: 1 ready, 1 asleep, 1 off.\n');
    expect(code).toBe(0);
  });

  it('tells of a server that is not needed, and of a configuration that was not taken over', async () => {
    const place = freePlace();
    const servers = { a: unit('a'), b: unit('b', { state: 'starting', needed: false, reason: undefined }) };
    await openFake(place, { status: { servers, configProblem: '.mcp.json:3:1: is not JSON' } });
    const { code, stdout } = await work((context) => runStatus(undefined, {}, context), place);
    expect(stdout).toContain('\nNot ready, and not needed: b.\n');
    expect(stdout).toContain(
      'The changed configuration was rejected; the old one is in use: .mcp.json:3:1: is not JSON\n',
    );
    expect(code).toBe(0);
  });

  it('shows all about one server', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
    const place = freePlace();
    await openFake(place, { status: three });
    const weather = await work((context) => runStatus('weather', {}, context), place);
    const notes = await work((context) => runStatus('notes', {}, context), place);
    vi.useRealTimers();
    expect(weather.stdout.split('\n')).toEqual([
      'weather',
      '  state      ready',
      '  era        legacy',
      '  known by   It answered server/discover with -32601 "Method not found"',
      '  server     weather 1.0.0',
      '  kind       a command',
      '  served at  /mcp/weather',
      '  calls      2 in flight, 1 waiting, 1 conversation',
      '  restarts   2',
      '  processes  ready, generation 3, pid 4720, up 1h02m, 45 MB, answered initialize 1m00s ago and tools/list with 4 items',
      '',
    ]);
    expect(weather.code).toBe(0);
    expect(notes.stdout).toContain(
      '  last exit  5s ago (generation 6): notes stopped with code 1 after 30 ms; last stderr: "no key"\n' +
        '  its last stderr lines:\n  | reading config\n  | no key\n',
    );
    expect(notes.code).toBe(1);
  });

  it('prints what the gateway says, for programs', async () => {
    const place = freePlace();
    await openFake(place, { status: three });
    const all = await work((context) => runStatus(undefined, { json: true }, context), place);
    expect(JSON.parse(all.stdout)).toMatchObject({
      pid: 4711,
      ready: false,
      servers: { far: { state: 'asleep' } },
    });
    const one = await work((context) => runStatus('far', { json: true }, context), place);
    expect(JSON.parse(one.stdout)).toMatchObject({ name: 'far', state: 'asleep' });
  });

  it('never lets a server write on the terminal as it likes', async () => {
    const place = freePlace();
    const evil = unit('e\u001b[2Jvil', {
      state: 'failed',
      reason: 'bye\u001b]0;owned\u0007\nEverything is ok',
    });
    await openFake(place, { status: { servers: { evil } } });
    const { stdout } = await work((context) => runStatus(undefined, {}, context), place);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/^evil +failed/m);
    expect(stdout).not.toMatch(/^Everything is ok/m);
  });
});

describe('which gateway', () => {
  it('there is none: what to do, and 3', async () => {
    const { code, stdout, error } = await work((context) => runStatus(undefined, {}, context), freePlace());
    expect({ code, stdout, message: error?.message, hint: error?.hint }).toEqual({
      code: 3,
      stdout: '',
      message: 'No running gateway found for this user',
      hint: 'isthmus serve --config FILE starts one; --socket PATH names a control socket, or its folder',
    });
  });

  it('of --socket is not there: 3', async () => {
    const { code, error } = await work(
      (context) => runStatus(undefined, { socket: '/nowhere/a.sock' }, context),
      freePlace(),
    );
    expect(code).toBe(3);
    expect(error?.message).toBe(
      'Cannot connect to the control socket /nowhere/a.sock: no process listens there',
    );
  });

  it('there are two: both are named, and it is asked which; --pid, --socket and a server they do not share tell', async () => {
    const place = freePlace();
    const one = await openFake(
      place,
      { status: { pid: 11, servers: { a: unit('a'), b: unit('b') } } },
      'one',
    );
    await openFake(
      place,
      { status: { pid: 22, startedAt: '2026-07-28T09:30:00.000Z', servers: { b: unit('b') } } },
      'two',
    );
    const run = (name: string | undefined, options: object) =>
      work((context) => runStatus(name, { json: true, ...options }, context), place);
    const { code, error } = await run(undefined, {});
    expect(code).toBe(2);
    expect(error?.message).toBe('Several gateways are running');
    expect(error?.evidence).toEqual([
      'gateways:',
      `  --pid 11  http://127.0.0.1:8080/mcp ${place.folder}/one.sock  (a, b)`,
      `  --pid 22  http://127.0.0.1:8080/mcp ${place.folder}/two.sock  (b)`,
    ]);
    expect(JSON.parse((await run(undefined, { pid: 22 })).stdout)).toMatchObject({ pid: 22 });
    expect(JSON.parse((await run(undefined, { socket: one.path })).stdout)).toMatchObject({ pid: 11 });
    expect(JSON.parse((await run('a', {})).stdout)).toMatchObject({ name: 'a' });
    expect((await run('b', {})).code).toBe(2);
    expect((await run(undefined, { pid: 33 })).error?.message).toBe('No gateway of this user has the pid 33');
  });

  it('has no such server: what was meant, and 2', async () => {
    const place = freePlace();
    await openFake(place, { status: { servers: { weather: unit('weather') } } });
    const { code, error } = await work((context) => runStatus('wether', {}, context), place);
    expect({ code, message: error?.message, hint: error?.hint }).toEqual({
      code: 2,
      message: 'The gateway has no server "wether"',
      hint: 'Did you mean weather?',
    });
  });

  it('is of another version: it says so, and 4', async () => {
    const place = freePlace();
    const gateway = await openFake(place);
    const { IsthmusError } = await import('@isthmus/sdk/internal/errors.js');
    const refusing = async () => {
      throw new IsthmusError('NO_COMMON_REVISION', 'This gateway speaks version 1 …');
    };
    const { openControl } = await import('@isthmus/gateway/internal/control/index.js');
    const control = await openControl({ ...gateway, status: refusing }, { path: `${place.folder}/x.sock` });
    const { code, error } = await work(
      (context) => runStatus(undefined, { socket: control.path }, context),
      place,
    );
    await control.close();
    expect(code).toBe(4);
    expect(error?.hint).toBe('Restart the gateway with the installed isthmus');
  });
});

describe('words for numbers', () => {
  it.each([
    [0, '0s'],
    [59_999, '59s'],
    [60_000, '1m00s'],
    [3_599_000, '59m59s'],
    [3_600_000, '1h00m'],
    [200_000_000, '2d07h'],
    [undefined, ''],
  ])('%s ms is %s', (ms, text) => expect(describeDuration(ms)).toBe(text));

  it.each([
    [47_185_920, '45 MB'],
    [3_221_225_472, '3.0 GB'],
    [undefined, ''],
  ])('%s bytes are %s', (bytes, text) => expect(describeBytes(bytes)).toBe(text));

  it('say when it is tried again', () => {
    const waiting = running({ state: 'backing-off', nextAttemptAt: NOW + 4200 });
    const ill = unit('a', { state: 'restarting', reason: 'a was killed', processes: waiting });
    expect(whyOf(ill, NOW)).toBe('was killed; it is started again in 4s');
    expect(whyOf(ill, NOW + 4000)).toBe('was killed; it is started again at once');
  });
});
