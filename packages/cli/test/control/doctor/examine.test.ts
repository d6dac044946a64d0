import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayServerStatus } from '@isthmus/gateway/internal/server-state.js';
import { describe, expect, it } from 'vitest';
import { unit } from '../../../../gateway/test/support/control.js';
import { describeLookUp, lookUpCommand } from '../../../src/control/doctor/check-command.js';
import { examineServer } from '../../../src/control/doctor/examine-server.js';
import { interpretStderr, quotedLine } from '../../../src/control/doctor/interpret-stderr.js';
import { inOrder } from '../../../src/control/doctor/run-doctor.js';
import { freeFolder } from '../../support/isthmus.js';

/** What the doctor makes of what it sees, without servers. */

describe('the stderr of a program', () => {
  const variables = { given: new Set(['HAS_IT']), ours: new Set(['OUR_TOKEN', 'HAS_IT']) };

  it.each([
    [
      'Error: listen EADDRINUSE: address already in use :::3000',
      'port-in-use',
      'It needs port 3000, which another process uses',
    ],
    [
      'OSError: [Errno 98] address already in use',
      'port-in-use',
      'It needs a port, which another process uses',
    ],
    [
      "Error: Cannot find module '/srv/server.js'",
      'module-missing',
      'It needs /srv/server.js, which does not exist',
    ],
    [
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /x.js",
      'module-missing',
      'It needs zod, which does not exist',
    ],
    ["ModuleNotFoundError: No module named 'mcp'", 'module-missing', 'It needs mcp, which does not exist'],
    ['npm error code E404', 'module-missing', 'The package of the command does not exist'],
    [
      'Error: WEATHER_API_KEY is not set',
      'variable-missing',
      'It seems to need the variable WEATHER_API_KEY, which it does not get',
    ],
    [
      "KeyError: 'GITHUB_TOKEN'",
      'variable-missing',
      'It seems to need the variable GITHUB_TOKEN, which it does not get',
    ],
    [
      'Please set the BRAVE_API_KEY environment variable',
      'variable-missing',
      'It seems to need the variable BRAVE_API_KEY, which it does not get',
    ],
    ['Error: EACCES: permission denied, open /root/x', 'permission', 'It lacks a permission'],
  ])('%s', (line, code, message) => {
    expect(interpretStderr(['starting', line, '    at x.js:1'], variables)).toMatchObject({ code, message });
  });

  it.each([
    'Server running on stdio',
    'HAS_IT is not set in the file',
    'TypeError [ERR_INVALID_ARG_TYPE]: must be a string',
    '',
  ])('say nothing: %s', (line) => {
    expect(interpretStderr([line], variables)).toBeUndefined();
  });

  it('lead to a variable that is set here and not passed on', () => {
    expect(interpretStderr(['missing OUR_TOKEN'], variables)?.advice).toBe(
      `It is set here, but servers get a clean environment: add "env": { "OUR_TOKEN": "\${OUR_TOKEN}" }, or "inheritEnv": ["OUR_TOKEN"]`,
    );
  });
});

describe('the line that is quoted', () => {
  it.each([
    [
      'a stopped with code 1 after 3 ms; last stderr: "no \\"key\\" \\u0041"; it is started again at once',
      ['no "key" A'],
    ],
    ['a stopped with code 1 after 3 ms', []],
  ])('%s', (sentence, lines) => {
    expect(quotedLine(sentence)).toEqual(lines);
  });
});

describe('a command', () => {
  function path(): { env: { PATH: string }; folder: string } {
    const folder = freeFolder();
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'weather-server'), '#!/bin/sh\n');
    chmodSync(join(bin, 'weather-server'), 0o755);
    writeFileSync(join(bin, 'notes'), 'text');
    return { env: { PATH: `${folder}/empty::${bin}` }, folder: bin };
  }

  it('is found on the PATH, or at its path', () => {
    const { env, folder } = path();
    const there = { kind: 'found', path: join(folder, 'weather-server') };
    expect(lookUpCommand('weather-server', env)).toEqual(there);
    expect(lookUpCommand(join(folder, 'weather-server'), {})).toEqual(there);
    expect(lookUpCommand('anything', {}, 'win32')).toEqual({ kind: 'found', path: 'anything' });
  });

  it('is missing, and a similar name is suggested', () => {
    const { env } = path();
    const missing = lookUpCommand('weather-servr', env);
    expect(missing).toEqual({ kind: 'missing', near: 'weather-server', folders: 2 });
    expect(describeLookUp('weather-servr', missing)).toEqual({
      code: 'command-not-found',
      message: 'The command weather-servr is in none of the 2 folders of PATH',
      advice: 'Did you mean weather-server?',
    });
    expect(describeLookUp('uvx', { kind: 'missing', near: undefined, folders: 2 })?.advice).toBe(
      'Install uv (https://docs.astral.sh/uv), or give the full path',
    );
  });

  it('exists and is not executable', () => {
    // Whoever is root may run anything that anybody may run, and this nobody may.
    const { env, folder } = path();
    const found = lookUpCommand('notes', env);
    expect(found).toEqual({ kind: 'not-executable', path: join(folder, 'notes') });
    expect(describeLookUp('notes', found)?.code).toBe('not-executable');
  });
});

describe('a server of the gateway', () => {
  const facts = {
    where: 'gateway 1',
    now: 0,
    entry: undefined,
    lookUp: () => ({ kind: 'found', path: '/home/ada/.local/bin/uvx' }) as const,
  };
  const ill = (reason: string, more: Partial<GatewayServerStatus> = {}) =>
    examineServer(unit('a', { state: 'failed', reason, ...more }), facts).problems;

  it('that is ready, or asleep, is well, with its era and why', () => {
    expect(examineServer(unit('a'), facts)).toEqual({
      name: 'a',
      where: 'gateway 1',
      how: 'asked the gateway',
      health: 'well',
      era: 'legacy',
      because: 'It answered server/discover with -32601 "Method not found"',
      server: 'a 1.0.0',
      problems: [],
      odd: [],
      stderr: [],
    });
    expect(examineServer(unit('a', { state: 'asleep' }), facts).health).toBe('well');
    expect(examineServer(unit('a', { state: 'off' }), facts).health).toBe('off');
  });

  it('whose command is found from here but not by the gateway, is told so', () => {
    expect(ill('a could not be started: command not found: uvx (ENOENT)')).toEqual([
      {
        code: 'command-not-found',
        message: 'The gateway does not find uvx',
        advice:
          'It is at /home/ada/.local/bin/uvx, but not on the PATH of the gateway: write the full path, or give the server "env": { "PATH": "…" }',
      },
      {
        code: 'command-not-found',
        message: 'It could not be started: command not found: uvx (ENOENT)',
        advice: '',
      },
    ]);
  });

  it.each([
    [
      'a could not be started: working directory not found: /x (ENOENT)',
      {},
      'folder-missing',
      'Make the folder, or correct cwd',
    ],
    [
      'its first list failed: no',
      {},
      'list-fails',
      'isthmus logs a shows its output; after fixing the cause, run isthmus restart a',
    ],
    [
      'Cannot connect to http://x/: connection refused',
      { kind: 'url' } as const,
      'unreachable',
      'Check that the server runs, and that the URL and the headers are right',
    ],
  ])('%s', (reason, more, code, advice) => {
    expect(ill(reason, more)).toMatchObject([{ code, advice }]);
  });
});

describe('work in order', () => {
  it('runs in parallel, and its results keep the given order', async () => {
    let doing = 0;
    let most = 0;
    const task = (name: string, ms: number) => async () => {
      doing += 1;
      most = Math.max(most, doing);
      await new Promise((resolve) => setTimeout(resolve, ms));
      doing -= 1;
      return name;
    };
    const told: string[] = [];
    const work = [task('a', 30), task('b', 5), task('c', 1), task('d', 1)];
    for await (const name of inOrder(work, 2)) told.push(name);
    expect({ told, most }).toEqual({ told: ['a', 'b', 'c', 'd'], most: 2 });
  });
});
