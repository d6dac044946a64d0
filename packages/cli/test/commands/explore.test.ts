import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, ISTHMUS, startChild } from '../../../../test/support/child.js';
import { eventually } from '../../../../test/support/until.js';
import { demo, freeFolder, isthmus } from '../support/isthmus.js';

describe('N14: isthmus prompt', () => {
  it('N14: prints the messages of a prompt with their roles', async () => {
    const { code, stdout } = await isthmus(
      'prompt',
      'test_prompt_with_arguments',
      'arg1=a',
      'arg2=b',
      ...demo(),
    );
    expect([code, stdout]).toEqual([0, "user:\nPrompt with arguments: arg1='a', arg2='b'\n"]);
  });

  it('N14: prints the exact result with --json', async () => {
    const { stdout } = await isthmus('prompt', 'test_simple_prompt', '--json', ...demo());
    expect(JSON.parse(stdout)).toMatchObject({ messages: [{ role: 'user', content: { type: 'text' } }] });
  });

  it('N14: names the missing arguments, and the prompt that was meant', async () => {
    const missing = await isthmus('prompt', 'test_prompt_with_arguments', 'arg1=a', ...demo());
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('isthmus: test_prompt_with_arguments needs arg2\n');
    const unknown = await isthmus('prompt', 'test_simple_promt', ...demo());
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('hint: Did you mean test_simple_prompt? isthmus list prompts -- ');
  });
});

describe('N14: isthmus complete', () => {
  it('N14: prints the completions of a variable of a template, one a line', async () => {
    const { code, stdout } = await isthmus('complete', 'test://template/{id}/data', 'id=1', ...demo());
    expect([code, stdout]).toEqual([0, '123\n124\n']);
  });

  it('N14: needs an argument', async () => {
    const { code, stderr } = await isthmus('complete', 'test_simple_prompt', ...demo());
    expect(code).toBe(2);
    expect(stderr).toContain('isthmus: No argument to complete given\n');
  });
});

describe('N14: isthmus listen', () => {
  it('N14: prints changes as they come, until --count', async () => {
    const socket = `unix:${freeFolder()}/s`;
    const server = startChild(ISTHMUS, { args: ['demo', '--listen', socket] });
    await server.until('address', () => server.stderr.includes('Ctrl-C stops it'));
    const lines: string[] = [];
    const listen = async (...args: string[]) => {
      const onLine = (line: string) => lines.push(line);
      const child = startChild(ISTHMUS, { args: ['listen', socket, ...args], onLine });
      await child.until('listening', () => child.stderr.includes('listening to isthmus-demo'));
      return child;
    };
    const endless = await listen('demo://clock', '--json');
    expect((await isthmus('call', socket, 'touch')).code).toBe(0);
    await eventually(() =>
      expect(lines.map((line) => JSON.parse(line))).toEqual(
        expect.arrayContaining([
          { at: expect.any(String), kind: 'tools' },
          { at: expect.any(String), kind: 'resource', uri: 'demo://clock' },
        ]),
      ),
    );
    endless.kill('SIGTERM');
    await endless.exit();
    lines.length = 0;
    const counted = await listen('--count', '1');
    expect((await isthmus('call', socket, 'touch')).code).toBe(0);
    expect((await counted.exit()).code).toBe(0);
    expect(lines).toEqual([expect.stringMatching(/^\S+ the list of tools changed$/)]);
  });

  it('N14: ends with --for, and with 130 at Ctrl-C', async () => {
    expect((await isthmus('listen', '--for', '0.1', ...demo())).code).toBe(0);
    const listener = startChild(ISTHMUS, { args: ['listen', ...demo()] });
    await listener.until('listening', () => listener.stderr.includes('listening to isthmus-demo'));
    listener.kill('SIGINT');
    expect((await listener.exit()).code).toBe(130);
    expect(listener.stderr).not.toContain('isthmus: ');
  });
});

describe('N14: isthmus list without a target', () => {
  function files(servers: Record<string, unknown>) {
    const home = freeFolder();
    const file = join(home, 'servers.json');
    writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    return { home, file };
  }

  const banner = { command: process.execPath, args: [fixture('server-with-banners.mjs')] };

  async function run(home: string, env: Record<string, string>, ...args: string[]) {
    const lines: string[] = [];
    const all = { PATH: process.env['PATH'] ?? '', HOME: home, ...env };
    const child = startChild(ISTHMUS, { args, env: all, onLine: (line) => lines.push(line) });
    child.end();
    const { code } = await child.exit();
    return { code, stdout: lines.join('\n'), stderr: child.stderr };
  }

  it('N14: lists the tools of all configured servers, and says which cannot be used', async () => {
    const { home, file } = files({
      one: banner,
      off: { ...banner, disabled: true },
      bad: { command: 'no-such-command' },
    });
    const { code, stdout } = await run(home, { ISTHMUS_CONFIG: file }, 'list');
    expect(code).toBe(3);
    expect(stdout.split('\n')).toEqual([
      `one (${file}:1)`,
      '  echo  [text:string]',
      '',
      `bad (${file}:1)`,
      expect.stringContaining('  Cannot '),
    ]);
  });

  it('N14: shows a server whose definition is invalid, and refuses a file that is not there', async () => {
    const { home, file } = files({ one: { command: 7 } });
    const { code, stdout } = await run(home, {}, 'list', '--config', file);
    expect([code, stdout.split('\n')[0]]).toEqual([3, `one (${file}:1)`]);
    expect(stdout).toContain('mcpServers.one.command');
    expect((await run(home, {}, 'list', '--config', '/no/such.json')).code).toBe(2);
  });

  it('N14: takes a kind, --config and --json', async () => {
    const { home, file } = files({ one: banner });
    const all = await run(home, {}, 'list', '--config', file, '--json');
    expect(JSON.parse(all.stdout)).toMatchObject({ servers: { one: { tools: [{ name: 'echo' }] } } });
    const prompts = await run(home, {}, 'list', 'prompts', '--config', file);
    expect(prompts).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('with-banners offers no prompts'),
    });
  });

  it('N14: says so where nothing is configured', async () => {
    const { code, stderr } = await run(freeFolder(), {}, 'list');
    expect(code).toBe(2);
    expect(stderr).toContain('isthmus: No server given, and no servers are configured on this machine\n');
  });
});
