/** How a server is to be kept: our names, those of others, and the time units. */
import { describe, expect, it } from 'vitest';
import { read, server } from '../../support/config.js';

async function settings(extras: Record<string, unknown>, as?: string) {
  const { servers, problems } = await read(server({ command: 'c', ...extras }), { ...(as && { as }) });
  const { kind, name, command, args, env, cwd, source, ...rest } = (servers['x'] ?? {}) as Record<
    string,
    unknown
  >;
  return { rest, problems };
}

const ALL = {
  disabled: false,
  timeoutMs: 5000,
  mode: '2025-11-25',
  start: 'eager',
  processes: { pool: 4 },
  maxProcesses: 8,
  maxInFlight: 16,
  maxQueue: 0,
  maxParked: 7,
  idleMs: 60_000,
  maxAgeMs: 3_600_000,
  restart: { attempts: 5, firstDelayMs: 100, maxDelayMs: 10_000, stableMs: 60_000, jitter: 0 },
  inheritEnv: ['PATH', 'HOME'],
  trustHints: true,
  tools: { allow: ['get_*'], deny: ['get_secret'] },
  needed: false,
  limits: {
    maxConcurrent: 8,
    maxQueue: 0,
    maxConcurrentPerCaller: 2,
    maxListens: 3,
    maxSessions: 4,
    ratePerMinute: 60,
  },
  stateless: true,
  connectTimeoutMs: 9000,
  silenceMs: 500,
  bootMs: 2000,
  maxRounds: 3,
  maxLineBytes: 1024,
  overlap: true,
  drainMs: 1000,
  health: { everyMs: 1000, timeoutMs: 500, maxSilentMs: 9000 },
  shutdown: { closeMs: 1, termMs: 2, killMs: 3 },
  questions: 'queue',
  stderrBytes: 4096,
};

describe('our own names', () => {
  it('are read beside command', async () => {
    expect(await settings(ALL)).toEqual({ rest: ALL, problems: [] });
  });

  it('are read in the block isthmus, where they win', async () => {
    const others = { mode: 'legacy', idleTimeoutMs: 7, timeout: 7, restart: false };
    expect(await settings({ isthmus: ALL, ...others })).toEqual({ rest: ALL, problems: [] });
  });

  it.each<[Record<string, unknown>]>([
    [{ idleMs: false }],
    [{ restart: false }],
    [{ restart: {} }],
    [{ processes: 'per-principal' }],
    [{ inheritEnv: 'all' }],
    [{ mode: 'modern' }],
    [{ health: false }],
    [{ tools: {} }],
    [{ tools: { allow: [] } }],
    [{ limits: {} }],
  ])('may be %j', async (given) => {
    expect(await settings(given)).toEqual({ rest: given, problems: [] });
  });

  it.each<[string, unknown, string]>([
    ['disabled', 'yes', 'true or false'],
    ['timeoutMs', 0, 'a number of milliseconds, 1 or more'],
    ['timeoutMs', 2 ** 31, 'a number of milliseconds, 1 or more'],
    ['mode', 'bronze', 'auto, modern, legacy or a revision such as 2025-11-25'],
    ['start', 'later', 'lazy or eager'],
    ['processes', { pool: 0 }, 'shared, per-conversation, per-principal or { "pool": NUMBER }'],
    ['maxProcesses', 1.5, 'a whole number, 1 or more'],
    ['maxQueue', -1, 'a whole number, 0 or more'],
    ['maxParked', 0, 'a whole number, 1 or more'],
    ['idleMs', 0, 'a number of milliseconds, 1 or more, or false for never'],
    ['restart', 'always', 'false or an object of attempts, firstDelayMs, maxDelayMs, stableMs and jitter'],
    ['needed', 'no', 'true or false'],
    ['stateless', 1, 'true or false'],
    ['health', true, 'false or an object of everyMs, timeoutMs and maxSilentMs'],
    ['shutdown', [], 'an object of closeMs, termMs and killMs'],
    ['questions', 'ask', 'adaptive or queue or refuse'],
    ['maxLineBytes', 0, 'a whole number, 1 or more'],
    ['inheritEnv', [1], 'minimal, all or a list of names'],
  ])('%s cannot be %j: a warning beside command, an error in the block', async (name, value, expected) => {
    expect(await settings({ [name]: value })).toEqual({
      rest: {},
      problems: [`warning 5:7 mcpServers.x.${name}: is not used: it must be ${expected}`],
    });
    expect((await settings({ isthmus: { [name]: value } })).problems).toEqual([
      `error 6:9 mcpServers.x.isthmus.${name}: must be ${expected}`,
    ]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['restart', { attempt: 1 }, 'restart.attempt: is not known; did you mean attempts?'],
    ['restart', { jitter: 2 }, 'restart.jitter: must be a number from 0 to 1'],
    ['shutdown', { closeMs: '2s' }, 'shutdown.closeMs: must be a number of milliseconds, 1 or more'],
  ])('%s cannot be %j: the part that is wrong is named', async (name, value, text) => {
    expect(await settings({ [name]: value })).toEqual({
      rest: {},
      problems: [`warning 6:9 mcpServers.x.${text} (${name} is not used)`],
    });
    expect((await settings({ isthmus: { [name]: value } })).problems).toEqual([
      `error 7:11 mcpServers.x.isthmus.${text}`,
    ]);
  });

  it.each<[Record<string, unknown>, string]>([
    [
      { tools: 'get' },
      'error 5:7 mcpServers.x.tools: must be a list of names, or an object of allow and deny',
    ],
    [{ tools: { deny: 'rm' } }, 'error 6:9 mcpServers.x.tools.deny: must be a list of names'],
    [{ tools: { alow: ['get'] } }, 'error 6:9 mcpServers.x.tools.alow: is not known; did you mean allow?'],
    [{ disabledTools: 'rm' }, 'error 5:7 mcpServers.x.disabledTools: must be a list of names'],
    [{ enabled_tools: [1] }, 'error 5:7 mcpServers.x.enabled_tools: must be a list of names'],
    [
      { limits: { maxQueue: -1 } },
      'error 6:9 mcpServers.x.limits.maxQueue: must be a whole number, 0 or more',
    ],
    [
      { limits: { maxConcurent: 1 } },
      'error 6:9 mcpServers.x.limits.maxConcurent: is not known; did you mean maxConcurrent?',
    ],
    [
      { limits: 5 },
      'error 5:7 mcpServers.x.limits: must be an object of maxConcurrent, maxQueue, maxConcurrentPerCaller, maxListens, maxSessions and ratePerMinute',
    ],
  ])('%j costs the server: what should keep something away is not skipped', async (given, problem) => {
    expect(await settings(given)).toEqual({ rest: {}, problems: [problem] });
  });

  it('are suggested in the block, which is ours alone', async () => {
    expect(await settings({ isthmus: { idelMs: 1, other: 1, toString: 1 } })).toEqual({
      rest: {},
      problems: [
        'warning 6:9 mcpServers.x.isthmus.idelMs: is not known; did you mean idleMs?',
        'warning 7:9 mcpServers.x.isthmus.other: is not known',
        'warning 8:9 mcpServers.x.isthmus.toString: is not known',
      ],
    });
  });

  it('need an object as their block', async () => {
    expect((await settings({ isthmus: true })).problems).toEqual([
      'error 5:7 mcpServers.x.isthmus: must be an object',
    ]);
  });
});

describe('the names of others', () => {
  it.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{ enabled: true }, {}],
    [{ enabled: false }, { disabled: true }],
    [{ protocolEra: 'modern' }, { mode: 'modern' }],
    [{ protocolVersion: '2025-06-18' }, { mode: '2025-06-18' }],
    [{ lifecycle: 'keep-alive' }, { idleMs: false }],
    [{ lifecycle: 'ephemeral' }, { idleMs: 1 }],
    [{ lifecycle: { mode: 'keep-alive', idleTimeoutMs: 9000 } }, { idleMs: 9000 }],
    [{ lifecycle: { mode: 'ephemeral' } }, { idleMs: 1 }],
    [{ longLived: true }, { idleMs: false }],
    [{ longLived: false }, {}],
    [{ idle_timeout_seconds: 90 }, { idleMs: 90_000 }],
    [{ idle_timeout_seconds: 0 }, { idleMs: false }],
    [{ idleTimeoutMs: 250 }, { idleMs: 250 }],
    [{ max_lifetime_seconds: 3600 }, { maxAgeMs: 3_600_000 }],
    [{ max_lifetime_seconds: 0 }, {}],
    [{ singleton: true }, { processes: 'shared', maxProcesses: 1 }],
    [{ restartOnExit: true }, { restart: {} }],
    [
      { restartOnExit: true, maxRestarts: 3, restartDelay: 2000 },
      { restart: { attempts: 3, firstDelayMs: 2000 } },
    ],
    [{ restartOnExit: false, maxRestarts: 3 }, { restart: false }],
    [{ tool_timeout_sec: 0.5 }, { timeoutMs: 500 }],
    [{ timeout: null }, {}],
    [{ startup_timeout_sec: 20 }, { connectTimeoutMs: 20_000 }],
    [{ startup_timeout_ms: 1500 }, { connectTimeoutMs: 1500 }],
    [{ required: false }, { needed: false }],
    [{ tools: ['a', 'b'] }, { tools: { allow: ['a', 'b'] } }],
    [{ includeTools: ['a'], excludeTools: ['b'] }, { tools: { allow: ['a'], deny: ['b'] } }],
    [{ enabledTools: ['a'] }, { tools: { allow: ['a'] } }],
    [{ enabled_tools: ['a'] }, { tools: { allow: ['a'] } }],
    [{ allowedTools: ['a'] }, { tools: { allow: ['a'] } }],
    [{ disabledTools: ['b'], disabled_tools: ['c'] }, { tools: { deny: ['b', 'c'] } }],
    [{ blockedTools: ['b'] }, { tools: { deny: ['b'] } }],
  ])('%j', async (given, expected) => {
    expect(await settings(given)).toEqual({ rest: expected, problems: [] });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ enabled: 1 }, 'enabled: is not used: it must be true or false'],
    [{ timeout: '60s' }, 'timeout: is not used: it must be a number'],
    [{ timeout: 0 }, 'timeout: is not used: it must be a number'],
    [
      { lifecycle: 'for ever' },
      'lifecycle: is not used: it must be keep-alive, ephemeral or an object with one of them as its mode',
    ],
    [{ maxRestarts: -1 }, 'maxRestarts: is not used: it must be a whole number, 0 or more'],
    [{ idle_timeout_seconds: -1 }, 'idle_timeout_seconds: is not used: it must be a number of seconds'],
  ])('%j is a warning', async (given, text) => {
    expect(await settings(given)).toEqual({ rest: {}, problems: [`warning 5:7 mcpServers.x.${text}`] });
  });
});

it('what one list denies is not allowed by another', async () => {
  const given = {
    disabledTools: ['rm'],
    tools: { allow: ['ls', 'rm'] },
    isthmus: { tools: { allow: ['*'] } },
  };
  expect(await settings(given)).toEqual({ rest: { tools: { allow: ['*'], deny: ['rm'] } }, problems: [] });
});

it('what only a process can have is told in the block of a URL', async () => {
  const { servers, problems } = await read(
    server({ url: 'https://a.example/mcp', isthmus: { processes: 'shared', idleMs: 5, tools: ['a'] } }),
  );
  expect(servers['x']).toMatchObject({ kind: 'url', idleMs: 5, tools: { allow: ['a'] } });
  expect(problems).toEqual([
    'warning 6:9 mcpServers.x.isthmus.processes: is only for commands; this server is a URL',
  ]);
});

describe('timeout', () => {
  it.each<[string, number, number]>([
    ['.mcp.json', 30_000, 30_000],
    ['.mcp.json', 1000, 1000],
    ['.mcp.json', 999, 999_000],
    ['.mcp.json', 60, 60_000],
    ['cline_mcp_settings.json', 3600, 3_600_000],
    ['mcp_settings.json', 1800, 1_800_000],
    ['.roo/mcp.json', 1200, 1_200_000],
  ])('in %s: %d means %d ms', async (as, timeout, timeoutMs) => {
    expect(await settings({ timeout }, as)).toEqual({ rest: { timeoutMs }, problems: [] });
  });
});
