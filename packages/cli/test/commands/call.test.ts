/** `isthmus call`: arguments in, results out, in both eras and over every kind of target. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fixture, ISTHMUS, startChild, startDemo } from '../../../../test/support/child.js';
import { demo, EVERYTHING, FILESYSTEM, freeFolder, isthmus, node } from '../support/isthmus.js';

describe.each(['legacy', 'modern'])('isthmus call, %s', (era) => {
  const target = demo('--era', era);

  it('prints the text of the result and nothing else', async () => {
    expect(await isthmus('call', 'echo', 'text=hi there', ...target)).toEqual({
      code: 0,
      stdout: 'hi there\n',
      stderr: '',
    });
  });

  it('types arguments by the schema', async () => {
    const { code, stdout } = await isthmus('call', 'add', 'a=2', 'b=0.5', ...target);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"sum":2.5}\n' });
  });

  it('--json prints the exact result, on one line', async () => {
    const { code, stdout } = await isthmus('call', 'add', '--args', '{"a":2,"b":3}', '--json', ...target);
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(2);
    expect(JSON.parse(stdout)).toMatchObject({
      content: [{ type: 'text', text: '{"sum":5}' }],
      structuredContent: { sum: 5 },
    });
  });

  it('ends with 1 when the tool reports an error, which is on stderr, or with --json on stdout', async () => {
    const failed = await isthmus('call', 'test_error_handling', ...target);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toBe(
      'isthmus: test_error_handling failed: This tool intentionally returns an error for testing\n',
    );
    const json = await isthmus('call', 'test_error_handling', '--json', ...target);
    expect({ ...json, stdout: JSON.parse(json.stdout).isError }).toEqual({
      code: 1,
      stdout: true,
      stderr: '',
    });
  });

  it('shows progress with --progress, and logs, on stderr', async () => {
    const slept = await isthmus('call', 'sleep', 'ms=200', '--progress', ...target);
    expect(slept).toMatchObject({ code: 0, stdout: 'slept 200 ms\n' });
    expect(slept.stderr).toContain('progress 100/200\n');
    expect((await isthmus('call', 'sleep', 'ms=200', ...target)).stderr).toBe('');
    const logged = await isthmus('call', 'test_tool_with_logging', ...target);
    expect(logged.stderr).toContain('[info] Tool execution started\n');
    const quiet = await isthmus('call', 'test_tool_with_logging', '--log-level', 'error', ...target);
    expect(quiet).toMatchObject({ code: 0, stderr: '' });
  });

  it('answers questions with --answer, and without a terminal with cancel', async () => {
    const answered = await isthmus(
      'call',
      'test_elicitation_sep1330_enums',
      ...['--answer', 'untitledMulti=1,option3', '--answer', 'titledSingle=second option'],
      ...target,
    );
    expect(answered).toMatchObject({ code: 0, stderr: '' });
    expect(answered.stdout).toContain(
      'action=accept, content={"titledSingle":"value2","untitledMulti":["option1","option3"]}',
    );
    const wrong = await isthmus(
      'call',
      'test_elicitation_sep1034_defaults',
      '--answer',
      'age=old',
      ...target,
    );
    expect(wrong.stdout).toContain('action=cancel');
    expect(wrong.stderr).toContain('age: Enter a whole number');
    const alone = await isthmus('call', 'test_elicitation', ...target);
    expect(alone.stdout).toContain('action=cancel');
    expect(alone.stderr).toContain('answered cancel: no terminal');
    const url = await isthmus('call', 'test_url_elicitation', ...target);
    expect(url.stdout).toBe('URL elicitation: action=cancel\n');
    expect(url.stderr).toContain('https://example.com/sign-in');
  });

  it('tells the server of this folder, of those named with --root, or of none', async () => {
    const here = `${pathToFileURL(process.cwd()).href}\n`;
    expect((await isthmus('call', 'test_roots', ...target)).stdout).toBe(here);
    const [a, b] = [freeFolder(), freeFolder()];
    const named = await isthmus('call', 'test_roots', '--root', a, '--root', b, ...target);
    expect(named.stdout).toBe(`${pathToFileURL(a).href}\n${pathToFileURL(b).href}\n`);
    expect((await isthmus('call', 'test_roots', '--no-roots', ...target)).code).not.toBe(0);
  });

  it('is cancelled by Ctrl-C: the server is told, and the code is 130', async () => {
    const program = fixture('server-answers-after-cancel.mjs');
    const child = startChild(ISTHMUS, { args: ['call', 'wait', '--stderr', ...node(program, era)] });
    child.end();
    await child.until('the call', () => child.stderr.includes('waiting'));
    child.kill('SIGINT');
    expect(await child.exit()).toEqual({ code: 130, signal: null });
    expect(child.stderr).toMatch(/cancelled \d+, known: true/);
    expect(child.stderr).toContain('isthmus: Interrupted; the request was cancelled\n');
    expect(child.impure).toEqual([]);
  });
});

describe('isthmus call', () => {
  it('talks to sockets, unix and tcp', async () => {
    const path = join(freeFolder(), 'd.sock');
    const server = startDemo({ args: ['--listen', `unix:${path}`, '--listen', 'tcp://127.0.0.1:0'] });
    await server.until('start', () => server.stderr.includes('Ctrl-C'));
    const port = /^ {2}(tcp:\S+)$/m.exec(server.stderr)![1]!;
    for (const address of [`unix:${path}`, port]) {
      expect(await isthmus('call', address, 'echo', `text=${address}`)).toMatchObject({
        code: 0,
        stdout: `${address}\n`,
      });
    }
  });

  it('uses the official servers', async () => {
    const sum = await isthmus('call', 'get-sum', 'a=2', 'b=3', ...node(EVERYTHING));
    expect(sum).toMatchObject({ code: 0, stdout: 'The sum of 2 and 3 is 5.\n' });
    const image = await isthmus('call', 'get-tiny-image', ...node(EVERYTHING));
    expect(image.stdout).toMatch(/\[image image\/png, [\d.]+ kB; --json prints it\]\n/);
    const folder = freeFolder();
    writeFileSync(join(folder, 'a.txt'), 'hello\n');
    const file = join(folder, 'a.txt');
    const read = await isthmus(
      'call',
      'read_text_file',
      `path=${file}`,
      '--root',
      folder,
      ...node(FILESYSTEM, folder),
    );
    expect(read.code).toBe(0);
    expect(read.stdout).toContain('hello\n');
  });

  it('passes --env and --cwd to the command, and of our own environment only what is named', async () => {
    const program = `
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        const send = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
        if (method === 'server/discover') send({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {} });
        else send({ resultType: 'complete', content: [{ type: 'text', text:
          [process.env.A, process.env.XDG_CACHE_HOME !== undefined, process.env.SECRET, process.cwd()].join() }] });
      });`;
    const folder = freeFolder();
    process.env['SECRET'] = 'hush';
    const options = ['--env', 'A=1=2', '--env', 'XDG_CACHE_HOME', '--cwd', folder];
    const { stdout } = await isthmus('call', 'any', ...options, ...node('-e', program));
    expect(stdout).toBe(`1=2,true,,${folder}\n`);
  });

  it('has as many characters as the tool gave, through a pipe', async () => {
    const { code, stdout } = await isthmus('call', 'big', 'bytes=3000000', ...demo());
    expect({ code, length: stdout.length }).toEqual({ code: 0, length: 3_000_001 });
  });
});
