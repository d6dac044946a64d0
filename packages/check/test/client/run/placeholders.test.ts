import { describe, expect, it } from 'vitest';
import { commandLine, fillIn, type ScriptedServer, whyNot } from '../../../src/client/run/player.js';

const http = { over: 'http', url: 'http://127.0.0.1:1/mcp' } as ScriptedServer;
const stdio = {
  over: 'stdio',
  command: ['/my node', 'server.js', '--name', "it's"],
} as unknown as ScriptedServer;

describe('The words of a client command', () => {
  it('get the address in place of {server} and {url}', () => {
    expect(fillIn(['client', '{server}', '--at={url}'], http)).toEqual([
      'client',
      'http://127.0.0.1:1/mcp',
      '--at=http://127.0.0.1:1/mcp',
    ]);
  });

  it('end in the address when they have no place for it', () => {
    expect(fillIn(['client', '-v'], http)).toEqual(['client', '-v', 'http://127.0.0.1:1/mcp']);
  });

  it('get the command line as one word, quoted for a shell, or word by word', () => {
    expect(fillIn(['client', '{server}'], stdio)).toEqual([
      'client',
      `'/my node' server.js --name 'it'\\''s'`,
    ]);
    expect(fillIn(['client', '--', '{command...}'], stdio)).toEqual([
      ...['client', '--', '/my node', 'server.js', '--name', "it's"],
    ]);
  });

  it.each([
    [['{server}'], 'http', true],
    [['{server}'], 'stdio', true],
    [['{url}'], 'http', true],
    [['{url}'], 'stdio', false],
    [['{command}'], 'stdio', true],
    [['{command...}'], 'stdio', true],
    [['{command}'], 'http', false],
    [[], 'http', true],
    [[], 'stdio', false],
  ] as const)('%j can be told of a server over %s: %s', (words, over, can) => {
    expect(whyNot(words, over, false) === undefined).toBe(can);
  });

  it('need no place when the transport was insisted on: the environment has the server', () => {
    expect(whyNot([], 'stdio', true)).toBeUndefined();
    expect(whyNot(['{url}'], 'stdio', true)).toMatch(/no \{command\} or \{server\}/);
  });

  it('are shown as a shell would read them', () => {
    expect(commandLine(['node', 'a b.js', '--x=1'])).toBe(`node 'a b.js' --x=1`);
  });
});
