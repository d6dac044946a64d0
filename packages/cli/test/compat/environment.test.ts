/** Variables say what nobody typed, and options that would change nothing are refused. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CliError } from '../../src/cli-error.js';
import { serveCommand } from '../../src/commands/serve.js';
import { settleEnvironment } from '../../src/compat/environment.js';
import { openHttpAccess } from '../../src/serve/access/http-access.js';
import { addressesOf } from '../../src/serve/addresses.js';
import { refuseIdle, type ServedKind } from '../../src/serve/check-options.js';
import { missingConfigHint } from '../../src/serve/serve-config.js';
import type { ServeCommandOptions } from '../../src/serve/serve-options.js';

afterEach(() => void vi.unstubAllEnvs());

/** What is left when these variables are set and these words typed. */
function settled(variables: Record<string, string>, ...typed: string[]): Partial<ServeCommandOptions> {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(`ISTHMUS_${name}`, value);
  const command = serveCommand(undefined).action(() => {});
  command.parse(typed, { from: 'user' });
  const behind = typed.includes('--');
  const source = (name: keyof ServeCommandOptions) => command.getOptionValueSource(name);
  const options: Partial<ServeCommandOptions> = settleEnvironment(command.opts(), source, behind);
  const { watch: _, control: __, sse: ___, era: ____, record: _____, ...rest } = options;
  return rest;
}

describe('a variable', () => {
  it('stands for an option, and for several where that may be repeated', () => {
    expect(
      settled({
        LISTEN: 'stdio, tcp://127.0.0.1:0',
        CONFIG: 'a.json:b c.json',
        API_KEY: 'ada=one two,2',
        BEARER_FILE: 'tokens',
        LOG_LEVEL: 'debug',
        LOG_FORMAT: 'json',
        ALLOW_HOST: 'a.example,b.example',
        JWT_AUDIENCE: 'x y',
      }),
    ).toEqual({
      listen: ['stdio', 'tcp://127.0.0.1:0'],
      config: ['a.json', 'b c.json'],
      apiKey: ['ada=one', 'two,2'],
      bearerFile: 'tokens',
      logLevel: 'debug',
      logFormat: 'json',
      allowHost: ['a.example', 'b.example'],
      jwtAudience: ['x', 'y'],
    });
  });

  it('gives way to what is typed, also by another option', () => {
    const where = { LISTEN: 'stdio', PORT: '1', HOST: '::1' };
    expect(settled(where, '--listen', 'unix:/a')).toEqual({ listen: ['unix:/a'] });
    expect(settled(where, '--port', '2')).toEqual({ port: 2, host: '::1' });
    vi.unstubAllEnvs();
    const what = { UPSTREAM: 'http://a/' };
    expect(settled(what)).toEqual({ upstream: 'http://a/' });
    expect(settled(what, '--upstream', 'http://b/')).toEqual({ upstream: 'http://b/' });
    expect(settled(what, '--config', 'x')).toEqual({ config: ['x'] });
    expect(settled(what, '--', 'node')).toEqual({});
  });

  it('that is empty says nothing', () => {
    expect(settled({ PORT: '', CONFIG: '', API_KEY: '' })).toEqual({});
  });

  it('and another that contradict each other are named', () => {
    const both = { UPSTREAM: 'http://a/', CONFIG: 'x' };
    expect(() => settled(both)).toThrow('ISTHMUS_UPSTREAM and ISTHMUS_CONFIG are both set');
  });

  it('with a key is not left for children to read', () => {
    settled({ API_KEY: 's3cret' });
    expect(process.env['ISTHMUS_API_KEY']).toBeUndefined();
  });
});

describe('an option that would change nothing is refused', () => {
  it.each<[keyof ServeCommandOptions, ServedKind, string, string]>([
    [
      'env',
      'files',
      'http://127.0.0.1:1/mcp',
      '--env is for a server of the command line, and these are in files',
    ],
    ['name', 'named', 'http://127.0.0.1:1/mcp', '--name is for one server, and these are many'],
    ['watch', 'command', 'http://127.0.0.1:1/mcp', '--no-watch is for many servers, and this is one'],
    [
      'processes',
      'address',
      'http://127.0.0.1:1/mcp',
      '--processes needs a command, but this server is an address',
    ],
    ['ignoreTool', 'demo', 'http://127.0.0.1:1/mcp', '--ignore-tool is for a server, and none is given'],
    ['apiKey', 'command', 'stdio', '--api-key needs an HTTP address, and there is only stdio'],
    ['sse', 'command', 'unix:/a', '--no-sse needs an HTTP address, and there is only unix:/a'],
  ])('%s for %s at %s', (name, serving, address, message) => {
    expect(() => refuseIdle((each) => each === name, serving, [address])).toThrow(message);
    expect(() => refuseIdle(() => false, serving, [address])).not.toThrow();
  });

  it('an address has its own path', () => {
    expect(addressesOf({ path: '/x' })).toEqual(['http://127.0.0.1:8080/x']);
    expect(addressesOf({ path: '/x', host: '::1', port: 0 })).toEqual(['http://[::1]:0/x']);
    expect(refusal({ listen: ['https://127.0.0.1:8443/mcp'] })).toEqual([
      'Cannot listen on "https://127.0.0.1:8443/mcp": isthmus serves no TLS',
      'Write http://127.0.0.1:8443/mcp, and put a proxy with TLS in front: isthmus docs http',
    ]);
    expect(refusal({ listen: ['8080'] })).toEqual([
      'Cannot listen on "8080"',
      'Did you mean http://127.0.0.1:8080/mcp, or tcp://127.0.0.1:8080?',
    ]);
    expect(refusal({ listen: ['localhost:8080'] })).toEqual([
      'Cannot listen on "localhost:8080"',
      'Did you mean http://localhost:8080/mcp, or tcp://localhost:8080?',
    ]);
    expect(refusal({ listen: ['http://127.0.0.1:99999/mcp'] })).toEqual([
      'Cannot listen on "http://127.0.0.1:99999/mcp": it is not a URL',
      'For example http://127.0.0.1:8080/mcp; the highest port is 65535',
    ]);
    expect(() => addressesOf({ path: '/x', listen: ['stdio'] })).toThrow('--path is for --port and --host');
  });
});

describe('who may come in', () => {
  const open = (options: object, ...addresses: string[]) =>
    openHttpAccess({ sse: true, ...options } as ServeCommandOptions, addresses, () => {});

  it('a key is no protection where it cannot be asked for', () => {
    const key = { apiKey: ['k'] };
    expect(() => open({}, 'http://0.0.0.0:0/mcp')).toThrow('other machines can reach it');
    expect(() => open(key, 'http://0.0.0.0:0/mcp')).not.toThrow();
    const error = (() => {
      try {
        return open(key, 'http://0.0.0.0:0/mcp', 'tcp://0.0.0.0:0');
      } catch (each) {
        return each;
      }
    })();
    expect(error).toBeInstanceOf(CliError);
    expect((error as CliError).message).toBe(
      'refusing to serve tcp://0.0.0.0:0 without authentication: other machines can reach it',
    );
    expect((error as CliError).hint).toMatch(/^Keys and tokens are for HTTP; /);
    expect(() => open({ ...key, allowUnauthenticated: true }, 'tcp://0.0.0.0:0')).not.toThrow();
  });

  it('sessions, events, headers of pages and places are as typed', () => {
    expect(open({ stateless: true, resumableEvents: 0 }, 'stdio').endpoint).toEqual({
      legacy: 'stateless',
      eventStore: false,
    });
    expect(open({ allowOrigin: ['http://a'], allowHeader: ['X-A'] }, 'stdio').endpoint).toEqual({
      cors: { origins: ['http://a'], headers: ['X-A'] },
    });
    expect(() => open({ allowHeader: ['X-A'] }, 'stdio')).toThrow('none is allowed');
    expect(open({ sse: false, healthPath: ['/up'] }, 'stdio').places).toEqual({
      sse: false,
      healthPaths: ['/up'],
    });
    expect(open({ ssePath: '/a' }, 'stdio').places).toEqual({ sse: { path: '/a', messagePath: '/message' } });
    expect(() => open({ sse: false, ssePath: '/a' }, 'stdio')).toThrow(
      '--no-sse cannot be combined with --sse-path or --message-path',
    );
  });
});

describe('a file of --config that is not there', () => {
  it('is answered with those that are', () => {
    expect(missingConfigHint('serve', ['here.json'], () => true)).toBeUndefined();
    expect(missingConfigHint('serve', ['x.json'], (file) => file.endsWith('/.vscode/mcp.json'))).toBe(
      'There are .vscode/mcp.json (VS Code): isthmus serve --config .vscode/mcp.json',
    );
    expect(missingConfigHint('serve', ['x.json'], () => false)).toBe(
      'No application has a file here either. isthmus serve -- COMMAND ARGS… needs no file',
    );
  });
});

function refusal(options: Parameters<typeof addressesOf>[0]): [string, string | undefined] {
  try {
    throw new Error(`serves ${addressesOf(options).join(', ')}`);
  } catch (error) {
    return [(error as CliError).message, (error as CliError).hint];
  }
}
