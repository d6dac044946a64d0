/** Parts of what `isthmus serve` says, by themselves: names, events, attempts, and the line that waits. */
import { PassThrough } from 'node:stream';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { HostEvent, HostOccurrence } from '@isthmus/sdk/internal/host/host-event.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CliError } from '../../src/cli-error.js';
import { describeEvent, describeGateway } from '../../src/serve/describe-serving.js';
import { nameOfServer } from '../../src/serve/name-of-server.js';
import { createOperator } from '../../src/serve/operator.js';
import { startUpstream } from '../../src/serve/serve-single.js';
import { createStyle, processTerminal } from '../../src/terminal/terminal.js';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

describe('a command that ends at once', () => {
  it('is given up after five more attempts, half a minute in all', async () => {
    const error = new IsthmusError('CHILD_EXITED', 'it stopped');
    const said: string[] = [];
    const start = vi.fn(() => Promise.reject(error));
    const onRestart = (_error: unknown, then: string) => said.push(then);
    const outcome = startUpstream({ start, onRestart, over: new AbortController().signal }).catch((e) => e);
    await vi.runAllTimersAsync();
    expect(await outcome).toBe(error);
    expect(start).toHaveBeenCalledTimes(6);
    expect(said.map((line) => line.replace(/[\d.]+ s/, 'T'))).toEqual(
      [1, 2, 3, 4, 5].map((attempt) => `it is started again in T (${attempt} of 5)`),
    );
    expect(Date.now()).toBeGreaterThan(24_000);
    expect(Date.now()).toBeLessThan(38_000);
  });

  it.each([
    ['CANNOT_START', 'throws'],
    ['NO_COMMON_REVISION', 'throws'],
    ['INVALID_OPTION', 'throws'],
    ['CRASH_LOOP', 'throws'],
    ['TIMED_OUT', 'returns'],
    ['ADDRESS_UNAVAILABLE', 'returns'],
    ['HTTP_STATUS', 'returns'],
  ] as const)('%s: it %s it, so that the end comes now or the next request tries', async (code, how) => {
    const error = new IsthmusError(code, 'no');
    const start = () => Promise.reject(error);
    const onRestart = () => expect.unreachable();
    const outcome = startUpstream({ start, onRestart, over: new AbortController().signal });
    await (how === 'throws' ? expect(outcome).rejects : expect(outcome).resolves).toBe(error);
  });
});

describe('the name of a server', () => {
  it.each<[string, string]>([
    ['npx -y weather-server --verbose', 'weather-server'],
    ['npx -y @scope/weather', 'weather'],
    ['npx -p weather run-it', 'run-it'],
    ['node /opt/weather.mjs', 'weather.mjs'],
    ['/usr/bin/node --import tsx src/server.ts', 'server.ts'],
    ['node node_modules/@scope/weather/dist/index.js stdio', 'weather'],
    ['node dist/index.js', 'index.js'],
    ['node ./index.js', 'index.js'],
    ['node -e process.exit(1)', 'node'],
    ['node --eval 1/2', 'node'],
    ['sh -c ./start', 'start'],
    ['bash start.sh', 'start.sh'],
    ['python3.12 -m weather_server --port 1', 'weather_server'],
    ['python -c x', 'python'],
    ['uv --directory /srv run weather.py', 'weather.py'],
    ['uvx --from git+https://x/y weather', 'weather'],
    ['docker run -i --rm weather', 'docker'],
    ['./bin/weather -v', 'weather'],
    ['node bin/isthmus.js demo --era legacy', 'isthmus demo'],
    ['isthmus demo', 'isthmus demo'],
    ['/', '/'],
  ])('%s is %s', (line, name) => {
    const [command, ...args] = line.split(' ');
    expect(nameOfServer(command!, args)).toBe(name);
  });
});

describe('what happens to the process', () => {
  const exit: HostOccurrence = {
    ...{ kind: 'exit', generation: 1, pid: 1, phase: 'run', expected: false },
    reason: 'weather stopped with code 1 after 9 ms',
  };
  const restart: HostOccurrence = { kind: 'restart', attempt: 2, delayMs: 2040 };
  const loop: HostOccurrence = { kind: 'crash-loop', attempts: 5, reason: 'weather stopped with code 1' };
  const line = (occurrence: HostOccurrence, isNeeded: boolean, isKnown = true) => {
    const event: HostEvent = { ...occurrence, server: 'weather', at: 0 };
    return describeEvent(event, { isKnown, isNeeded });
  };

  it('is said with the name once', () => {
    expect(line(exit, true)).toBe('weather stopped with code 1 after 9 ms');
    expect(line({ ...exit, reason: 'it hung up' }, true)).toBe('weather: it hung up');
  });

  it('promises a restart only where somebody needs the process', () => {
    expect(line(restart, true)).toBe('weather is started again in 2.0 s (2 of 5)');
    expect(line(restart, false)).toBe('weather is started again with the next request');
    expect(line(loop, true)).toBe(
      'weather ended 6 times in a row; it is started again with a request, but not in the next 300 s',
    );
  });

  it('is left to whoever starts it, until it has answered once', () => {
    for (const each of [exit, restart, loop]) expect(line(each, true, false)).toBeUndefined();
  });
});

describe('whoever runs it', () => {
  const open = (readsErrors: boolean) => {
    const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { columns: 30 });
    const err = createStyle(false, {});
    const operator = createOperator({ ...processTerminal(), stderr, readsErrors, err });
    return { operator, screen: () => String(stderr.read() ?? '') };
  };

  it('sees on a terminal how long it takes, and what the command says stays readable', () => {
    const { operator, screen } = open(true);
    const stop = operator.waitFor('a command with very many words');
    expect(screen()).toBe('');
    vi.advanceTimersByTime(1000);
    expect(screen()).toBe('starting a command wit… (1 s)');
    operator.passOn('half a');
    vi.advanceTimersByTime(1000);
    expect(screen()).toBe('\r\u001b[Khalf a');
    operator.passOn(' line\n');
    vi.advanceTimersByTime(10_000);
    expect(screen()).toMatch(/^ line\nstarting .* \(3 s\)\r.*\(12 s\)$/s);
    stop();
    vi.advanceTimersByTime(5000);
    expect(screen()).toBe('\r\u001b[K');
  });

  it('sees nothing of it elsewhere', () => {
    const { operator, screen } = open(false);
    operator.waitFor('a command');
    vi.advanceTimersByTime(5000);
    expect(screen()).toBe('');
  });

  it('is not told the same twice, and no hint twice in a row', () => {
    const { operator, screen } = open(false);
    const failure = (message: string) => new CliError(3, message, { hint: 'Do it', evidence: ['seen'] });
    operator.passOn('half a line');
    operator.warn(failure('One'), 'it is tried again');
    operator.warn(failure('One'), 'it is tried again');
    operator.warn(failure('Two'));
    expect(screen()).toBe(
      'half a line\nisthmus: One; it is tried again\n  seen\nhint: Do it\nisthmus: Two\n  seen\n',
    );
  });
});

describe('the addresses of many servers', () => {
  const announced = (names: string[], broken: string[]) =>
    describeGateway(
      ['http://127.0.0.1:8080/mcp'],
      { names, broken: new Set(broken) },
      { needsKey: false, verbose: false },
    ).slice(0, 5);

  it('say which servers cannot be used', () => {
    expect(announced(['a', 'b c'], ['b c'])).toEqual([
      'Isthmus serves 1 of 2 servers to clients of both eras:',
      '',
      '  http://127.0.0.1:8080/mcp   (all of them together)',
      '    http://127.0.0.1:8080/mcp/a',
      "    http://127.0.0.1:8080/mcp/b%20c   (unusable; isthmus doctor 'b c' says why)",
    ]);
    expect(announced(['a'], [])).toEqual([
      'Isthmus serves 1 server to clients of both eras:',
      '',
      '  http://127.0.0.1:8080/mcp',
      '    http://127.0.0.1:8080/mcp/a',
      '    http://127.0.0.1:8080/status shows their state',
    ]);
  });
});
