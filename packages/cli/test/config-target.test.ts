// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
/** `--config FILE NAME`: a server of a file instead of a target. */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ISTHMUS } from '../../../test/support/child.js';
import { CliError } from '../src/cli-error.js';
import { findConfigured } from '../src/config-target.js';
import { connectorOf } from '../src/session/target-connector.js';
import { commandLine } from '../src/target.js';
import { freeFolder, isthmus } from './support/isthmus.js';

/** A server whose tool tells where it runs, with what, and since when; it takes as long to answer as it is told. */
const TELLER = `
import { createInterface } from 'node:readline';
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'teller', version: '1' } });
  } else if (method === 'tools/list') {
    answer(id, { tools: [{ name: 'tell', inputSchema: { type: 'object', properties: { ms: { type: 'integer' } } } }] });
  } else if (method === 'tools/call') {
    const { A, B, SECRET, OURS } = process.env;
    const told = { cwd: process.cwd(), args: process.argv.slice(2), A, B, SECRET, OURS };
    setTimeout(() => answer(id, { content: [{ type: 'text', text: JSON.stringify(told) }] }), params.arguments.ms ?? 0);
  } else if (id !== undefined) {
    console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }));
  }
}
`;

interface Written {
  readonly folder: string;
  readonly file: string;
}

function write(servers: Record<string, unknown>, name = '.mcp.json'): Written {
  const folder = realpathSync(freeFolder());
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'teller.mjs'), TELLER);
  writeFileSync(join(folder, name), JSON.stringify({ mcpServers: servers }, null, 2));
  return { folder, file: join(folder, name) };
}

const teller = { command: process.execPath, args: ['teller.mjs', 'x y'], mode: 'legacy' };
const demo = { command: process.execPath, args: [ISTHMUS, 'demo'] };

async function tell(...args: string[]): Promise<Record<string, unknown>> {
  const ran = await isthmus('call', ...args);
  expect(ran).toMatchObject({ code: 0 });
  return JSON.parse(ran.stdout);
}

describe('--config FILE NAME', () => {
  it('is understood wherever a target is', async () => {
    const { file } = write({ demo });
    expect(await isthmus('call', '--config', file, 'demo', 'echo', 'text=hi')).toEqual({
      code: 0,
      stdout: 'hi\n',
      stderr: '',
    });
    expect((await isthmus('list', '-c', file, 'demo', 'resources')).stdout).toContain('demo://clock');
    expect((await isthmus('read', 'demo', 'test://static-text', '--config', file)).code).toBe(0);
    const probed = await isthmus('probe', '--config', file, 'demo', '--json');
    expect(JSON.parse(probed.stdout)).toMatchObject({ era: 'modern' });
  });

  it('runs the server as the file says: in its project, with its words and its variables', async () => {
    const { folder, file } = write({ teller: { ...teller, env: { A: 'a', B: '${CONFIG_TEST_B}' } } });
    process.env['CONFIG_TEST_B'] = 'b';
    process.env['SECRET'] = 'not for servers';
    expect(await tell('--config', file, 'teller', 'tell')).toEqual({
      cwd: folder,
      args: ['x y'],
      A: 'a',
      B: 'b',
    });
  });

  it('lets the command line win, and --env add', async () => {
    const { folder, file } = write({
      teller: { ...teller, args: [join('..', 'teller.mjs')], env: { A: 'a', B: 'b' } },
    });
    const told = await tell(
      '--config',
      file,
      'teller',
      'tell',
      '--cwd',
      join(folder, 'sub'),
      '--env',
      'B=c',
      '--env',
      'OURS=o',
    );
    expect(told).toEqual({ cwd: join(folder, 'sub'), args: [], A: 'a', B: 'c', OURS: 'o' });
  });

  it('passes on the variables that inheritEnv names', async () => {
    const { file } = write({ teller: { ...teller, isthmus: { inheritEnv: ['OURS'] } } });
    process.env['OURS'] = 'ours';
    expect(await tell('--config', file, 'teller', 'tell')).toMatchObject({ OURS: 'ours' });
  });

  it('uses the time limit of the file, unless there is one on the command line', async () => {
    const { file } = write({ teller: { ...teller, timeoutMs: 1500 } });
    const late = await isthmus('call', '--config', file, 'teller', 'tell', 'ms=3000');
    expect(late).toMatchObject({ code: 4, stdout: '' });
    expect(late.stderr).toContain('was not answered within 1500 ms by teller');
    expect(await tell('--config', file, 'teller', 'tell', 'ms=3000', '--timeout', '20000')).toMatchObject({
      args: ['x y'],
    });
  });

  it('uses the mode of the file, unless there is one on the command line', async () => {
    const { file } = write({ demo: { ...demo, protocolVersion: '2025-06-18' } });
    const era = async (...more: string[]) =>
      JSON.parse((await isthmus('probe', '-c', file, 'demo', '--json', ...more)).stdout);
    expect(await era()).toMatchObject({ era: 'legacy', revision: '2025-06-18' });
    expect(await era('--era', 'modern')).toMatchObject({ era: 'modern' });
  });

  it('takes the server of the last file that has it', async () => {
    const first = write({ x: { command: 'no-such-program' }, other: demo });
    const second = write({ x: demo });
    const ran = await isthmus('call', '-c', first.file, '-c', second.file, 'x', 'echo', 'text=second');
    expect(ran).toMatchObject({ code: 0, stdout: 'second\n' });
  });

  it('writes warnings to stderr, and those of this server only', async () => {
    const { file } = write({ demo: { ...demo, evn: {}, disabled: true }, other: { command: 'c', arg: [] } });
    expect(await isthmus('call', '--config', file, 'demo', 'echo', 'text=hi')).toEqual({
      code: 0,
      stdout: 'hi\n',
      stderr: [
        `isthmus: warning: ${file}:9:7 mcpServers.demo.evn: is not known; did you mean env?`,
        `isthmus: warning: ${file}:3: demo is disabled there`,
        '',
      ].join('\n'),
    });
  });

  it('calls a server that fails by its name, and shows how to ask it', async () => {
    const { file } = write({ dead: { command: process.execPath, args: ['-e', 'process.exit(3)'] }, demo });
    const dead = await isthmus('list', '--config', file, 'dead');
    expect(dead).toMatchObject({ code: 3, stdout: '' });
    expect(dead.stderr).toContain('Cannot connect: dead stopped with code 3');
    const { stderr } = await isthmus('call', '--config', file, 'demo', 'ehco');
    expect(stderr).toContain(`isthmus list --config ${file} demo shows all`);
  });
});

describe('a server of a file that cannot be used ends with 2', () => {
  const servers = {
    weather: { command: 'npx' },
    remote: { url: 'https://mcp.example/mcp', disabled: true },
    broken: { command: '${CONFIG_TEST_NOT_SET}', evn: {} },
    asks: { command: 'c', env: { T: '${input:token}' } },
  };

  it('no name', async () => {
    const { file } = write(servers);
    expect(await isthmus('probe', '--config', file)).toEqual({
      code: 2,
      stdout: '',
      stderr: [
        `isthmus: No server name given for ${file}`,
        '  servers:',
        '    weather  a command',
        '    remote   a URL, disabled',
        '    broken   unusable: name it to see why',
        '    asks     unusable: name it to see why',
        `hint: isthmus probe --config ${file} weather`,
        '(isthmus probe --help explains the options)',
        '',
      ].join('\n'),
    });
  });

  it.each<{ what: string; args: (file: string) => string[]; lines: (file: string) => string[] }>([
    {
      what: 'an unknown name',
      args: (file) => ['--config', file, 'wether'],
      lines: (file) => [
        `isthmus: ${file} has no server "wether"`,
        '  servers:',
        '    weather  a command',
        '    remote   a URL, disabled',
        '    broken   unusable: name it to see why',
        '    asks     unusable: name it to see why',
        'hint: Did you mean weather?',
      ],
    },
    {
      what: 'an error in the file',
      args: (file) => ['--config', file, 'broken'],
      lines: (file) => [
        `isthmus: ${file}:11:7 mcpServers.broken.command: the variable CONFIG_TEST_NOT_SET is not set`,
        `  ${file}:12:7 mcpServers.broken.evn: is not known; did you mean env?`,
      ],
    },
    {
      what: 'an input',
      args: (file) => ['--config', file, 'asks'],
      lines: (file) => [
        `isthmus: ${file}:17:9 mcpServers.asks.env.T: \${input:token} has no value: an editor would ask for it`,
        'hint: Set it with --input ID=VALUE',
      ],
    },
    {
      what: 'a file that is not there',
      args: () => ['--config', '/no/such.json', 'x'],
      lines: () => ['isthmus: /no/such.json: the file cannot be read: there is no such file'],
    },
    {
      what: 'a file and a command',
      args: (file) => ['--config', file, 'weather', '--', 'node'],
      lines: () => [
        'isthmus: Two targets: a server of --config, and the command after --',
        'hint: Give one of them; the file already has the arguments of the server',
      ],
    },
    {
      what: 'an input for no file',
      args: () => ['--input', 'a=b', 'unix:/x'],
      lines: () => ['isthmus: --input is for a server of --config FILE'],
    },
  ])('$what', async ({ args, lines }) => {
    const { file } = write(servers);
    expect(await isthmus('list', ...args(file))).toEqual({
      code: 2,
      stdout: '',
      stderr: [...lines(file), '(isthmus list --help explains the options)', ''].join('\n'),
    });
  });

  it('takes what the editor would have asked for', async () => {
    const { file } = write({ teller: { ...teller, env: { A: '${input:token}' } } });
    expect(await tell('--config', file, 'teller', 'tell', '--input', 'token=a=b')).toMatchObject({
      A: 'a=b',
    });
  });
});

describe('a target of a file', () => {
  it('hides its arguments, which may be secrets, behind its name', async () => {
    const { file } = write({ 'my server': { command: 'c', args: ['--token', 's3cret'] } });
    const { target } = await findConfigured('list', [file], 'my server', undefined);
    expect(connectorOf(target, {}).label).toBe('my server');
    expect(commandLine('list', target, 'tools')).toBe(`isthmus list --config ${file} 'my server' tools`);
  });

  it('has a name that cannot write to the terminal', async () => {
    const { file } = write({ x: { command: '${env:\u001b[31mA}' } });
    const error = await findConfigured('list', [file], 'x', undefined).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CliError);
    expect((error as CliError).message).toMatch(/: the variable A is not set$/);
  });

  it('is in the help, with an example', async () => {
    const { stdout } = await isthmus('call', '--help');
    expect(stdout).toContain('isthmus call --config FILE NAME TOOL');
    expect(stdout).toContain('isthmus call --config .mcp.json weather get_forecast city=Oslo');
  });
});
