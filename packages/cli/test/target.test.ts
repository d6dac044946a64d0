/** Whom a command talks to, and what is said to those who write it wrongly. */

import { connectorFor } from '@isthmus/sdk/internal/transport/address.js';
import { describe, expect, it } from 'vitest';
import { CliError } from '../src/cli-error.js';
import { connectorOf } from '../src/session/target-connector.js';
import {
  commandLine,
  commandTarget,
  splitAtDashes,
  takeTarget,
  targetAt,
  withSettings,
} from '../src/target.js';

describe('the target', () => {
  it('is the first word when nothing is after --', () => {
    expect(takeTarget('call', ['unix:/a b.sock', 'echo', 'text=hi'], undefined)).toEqual({
      target: { kind: 'socket', name: 'unix:/a b.sock', address: 'unix:/a b.sock' },
      rest: ['echo', 'text=hi'],
    });
  });

  it('may be a URL, which takes headers that replace those of a file', () => {
    const url = 'https://x.example/mcp?key=1';
    expect(takeTarget('list', [url, 'tools'], undefined)).toEqual({
      target: { kind: 'url', name: url, url, transport: 'auto', headers: {} },
      rest: ['tools'],
    });
    expect(connectorOf(targetAt(url)!, { header: ['A: b'] }).label).toBe('https://x.example/mcp');
    expect(commandLine('list', targetAt('http://x/mcp')!, 'tools')).toBe('isthmus list http://x/mcp tools');
    const configured = { ...targetAt(url)!, name: 'far', files: ['a.json'] };
    expect(connectorOf(configured, {}).label).toBe('far');
    expect(commandLine('list', configured)).toBe('isthmus list --config a.json far');
    const named = withSettings(
      { ...configured, headers: { A: 'file', B: 'file' } },
      { header: ['a: typed'] },
    );
    expect(named).toMatchObject({ headers: { a: 'typed', b: 'file' } });
  });

  it('is the command after --, and all words belong to the subcommand', () => {
    expect(takeTarget('call', ['echo', 'text=hi'], ['node', 's.js', '--', '--json'])).toEqual({
      target: commandTarget('node', ['s.js', '--', '--json']),
      rest: ['echo', 'text=hi'],
    });
  });

  it('is split at the first -- only', () => {
    expect(splitAtDashes(['call', 'x', '--', 'sh', '--', 'y'])).toEqual({
      head: ['call', 'x'],
      behind: ['sh', '--', 'y'],
    });
    expect(splitAtDashes(['call'])).toEqual({ head: ['call'], behind: undefined });
  });

  it('may be followed by a URI that looks like an address', () => {
    expect(takeTarget('read', ['https://example.com/x'], ['node']).rest).toEqual(['https://example.com/x']);
  });

  it.each([
    { words: ['ws://x.example/mcp'], says: 'ws://x.example/mcp', hint: 'http://HOST:PORT/PATH' },
    { words: ['ftp://x.example'], says: 'ftp://x.example', hint: 'unix:PATH' },
    { words: ['tcp:127.0.0.1:4000'], says: 'not a TCP address', hint: 'tcp://127.0.0.1:4000' },
    {
      words: ['localhost:4000'],
      says: 'is not a server address',
      hint: 'Did you mean http://localhost:4000/mcp, or tcp://localhost:4000?',
    },
    {
      words: ['localhost:8080/mcp'],
      says: 'is not a server address',
      hint: 'Did you mean http://localhost:8080/mcp?',
    },
    {
      words: ['package.json'],
      says: 'is not a server address',
      hint: 'For a server of this file: isthmus probe --config package.json NAME',
    },
    {
      words: ['node', 'server.js'],
      says: 'is not a server address',
      hint: 'isthmus probe -- node server.js',
    },
    {
      words: ['server.js', 'a b'],
      says: 'is not a server address',
      hint: "isthmus probe -- node server.js 'a b'",
    },
    { words: ['unix:'], says: 'unix: needs the path of a socket', hint: 'Write unix:/path/to.sock' },
    {
      words: ['http://127.0.0.1:99999/mcp'],
      says: '"http://127.0.0.1:99999/mcp" is not a valid URL',
      hint: 'The highest port is 65535',
    },
    { words: ['http://'], says: '"http://" is not a valid URL', hint: 'For example http://' },
    { words: [], says: 'No server given', hint: '-- COMMAND' },
  ])('cannot be $words', ({ words, says, hint }) => {
    const error = failure(() => takeTarget('probe', words, undefined));
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(says) });
    expect(error.hint).toContain(hint);
  });

  it('is a command that lacks its --, also behind what the subcommand needs', () => {
    const hint = (...words: string[]) => failure(() => takeTarget('call', words, undefined)).hint;
    const before = 'To start a server, put its command after --: isthmus call';
    expect(hint('not-a-program', 'text=hi', 'node', 'a.js')).toBe(
      `${before} not-a-program text=hi -- node a.js`,
    );
    expect(hint('echo', 'text=a b', 'node', 'a.js')).toBe(`${before} echo 'text=a b' -- node a.js`);
    expect(hint('node', 'a.js')).toBe(`${before} TOOL -- node a.js`);
    expect(hint('not-a-program', 'text=hi')).toContain('Give unix:PATH');
  });

  it('cannot be two, nor an empty command', () => {
    expect(failure(() => takeTarget('call', ['unix:/x', 'echo'], ['node'])).message).toContain('Two targets');
    expect(failure(() => takeTarget('list', ['http://127.0.0.1/mcp'], ['node'])).message).toBe(
      'Two targets: http://127.0.0.1/mcp, and the command after --',
    );
    expect(failure(() => takeTarget('call', ['echo'], [])).message).toBe('No command after --');
  });

  it('takes --cwd and --env only as a command', () => {
    const socket = targetAt('tcp://127.0.0.1:4000')!;
    expect(connectorOf(socket, { env: {} }).label).toBe('tcp://127.0.0.1:4000');
    expect(failure(() => connectorOf(socket, { cwd: '/tmp', env: {} })).message).toContain('--cwd');
    expect(failure(() => connectorOf(socket, { env: { A: '1' } })).message).toContain('--env');
    const command = commandTarget('node', ['s.js']);
    expect(connectorOf(command, { cwd: '/tmp', env: { A: '1' } }).label).toBe('node s.js');
  });

  it('is written in hints so that it can be pasted', () => {
    const command = commandTarget('my server', ["it's", '-x']);
    expect(commandLine('list', command, 'tools')).toBe("isthmus list tools -- 'my server' 'it'\\''s' -x");
    expect(commandLine('list', targetAt('unix:/x')!, 'tools')).toBe('isthmus list unix:/x tools');
  });
});

describe('connectorFor', () => {
  it.each(['tcp://127.0.0.1:4000', 'tcp://[::1]:4000', 'tcp://localhost:1'])('knows %s', (address) => {
    expect(connectorFor(address).label).toBe(address);
  });

  it.each(['tcp://127.0.0.1:0', 'tcp://127.0.0.1', 'stdio', 'http://127.0.0.1', '', 'unix:'])(
    'refuses %j',
    (address) => {
      expect(() => connectorFor(address)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    },
  );
});

function failure(work: () => unknown): CliError {
  try {
    work();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}
