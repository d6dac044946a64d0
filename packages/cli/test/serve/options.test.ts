/** What `isthmus serve` says to somebody who runs it for the first time, and what it ends with. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ISTHMUS, startChild } from '../../../../test/support/child.js';
import { initialize } from '../../../../test/support/messages.js';
import { demo, freeFolder, isthmus, node } from '../support/isthmus.js';
import { freeSocket, HTTP, startDemoAt } from '../support/serve.js';

describe('a command without its -- is told where it goes', () => {
  it.each<[string[], string]>([
    [['node server.js -q'], 'A command goes after --: isthmus serve -- node server.js -q'],
    [['some-server'], 'A command goes after --: isthmus serve -- some-server'],
    [
      ['npx', '-y', 'some-server', 'a b', '--port', '1'],
      "A command goes after --: isthmus serve -- npx -y some-server 'a b' --port 1; or, for isthmus: isthmus serve --port 1 -- npx -y some-server 'a b'",
    ],
    [
      ['--listen', 'stdio', 'server.js', '-q'],
      'A command goes after --: isthmus serve --listen stdio -- node server.js -q',
    ],
    [
      ['uvx', 'x', '-l', 'tcp://127.0.0.1:4000'],
      'A command goes after --: isthmus serve -l tcp://127.0.0.1:4000 -- uvx x',
    ],
    [['--api-key', 's3cret', 'some-server'], 'A command goes after --: isthmus serve … -- some-server'],
    [['--env', 'KEY=s3cret', 'some-server'], 'A command goes after --: isthmus serve … -- some-server'],
    [['word', '--', 'node'], 'Leave it out, or put it after -- if it belongs to a command'],
  ])('%j', async (args, hint) => {
    const ran = await isthmus('serve', ...args);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(/^isthmus: serve takes no arguments of its own: "[^"]+"\n/);
    expect(ran.stderr).toContain(`\nhint: ${hint}\n`);
    expect(ran.stderr).not.toContain('s3cret');
  });

  it('and an option that is misspelt is still called that', async () => {
    const { code, stderr } = await isthmus('serve', '--listne', 'stdio');
    expect(code).toBe(2);
    expect(stderr).toContain("isthmus: unknown option '--listne'\n(Did you mean --listen?)\n");
  });
});

describe('hints are about options that serve has', () => {
  it.each<[string[], string]>([
    [['--upstream', 'nowhere'], 'Write --upstream http://HOST:PORT/PATH, unix:PATH or tcp://HOST:PORT; '],
    [
      ['--upstream', 'localhost:4000'],
      'Did you mean --upstream http://localhost:4000/mcp, or --upstream tcp:',
    ],
    [['--upstream', 'localhost:4000/x'], 'Did you mean --upstream http://localhost:4000/x?'],
    [['--upstream', 'stdio'], 'A server on stdio is started here: isthmus serve -- COMMAND ARGS…'],
    [['--upstream', 'package.json'], 'put its command after --: isthmus serve -- package.json'],
    [
      ['--upstream', 'http://127.0.0.1:1/', '--', 'node'],
      'Give one: --upstream ADDRESS for a server that runs',
    ],
  ])('%j', async (args, hint) => {
    const { code, stderr } = await isthmus('serve', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(`hint: `);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain('--config');
    expect(stderr).not.toContain('first word');
  });

  it('an era that the server does not speak ends with 3', async () => {
    const args = ['--era', 'modern', ...demo('--era', 'legacy')];
    expect(await isthmus('serve', ...HTTP, ...args)).toEqual({
      code: 3,
      stdout: '',
      stderr:
        'isthmus: Cannot use isthmus demo: it answered server/discover with -32601 "Method not found: server/discover", so it is a legacy server\n' +
        'hint: --era auto detects it\n',
    });
  });

  it('also where it is an address', async () => {
    const far = await startDemoAt(freeSocket(), '--era', 'legacy');
    const { code, stderr } = await isthmus('serve', ...HTTP, '--era', 'modern', '-u', far);
    expect(code).toBe(3);
    expect(stderr.match(/^isthmus: .*$/gm)).toEqual([
      expect.stringMatching(`^isthmus: Cannot use ${far}: it answered .*, so it is a legacy server$`),
    ]);
    expect(stderr).toMatch(/\nhint: --era auto detects it\n$/);
  });
});

describe('a command that cannot be started', () => {
  it('is one line and a hint, and no word on where it would have been', async () => {
    expect(await isthmus('serve', ...HTTP, '--', './does-not-exist')).toEqual({
      code: 3,
      stdout: '',
      stderr:
        'isthmus: Cannot connect: does-not-exist could not be started: command not found: ./does-not-exist (ENOENT)\n' +
        'hint: Check the spelling, or give the full path; --cwd sets the folder that the command runs in\n',
    });
    expect(await isthmus('serve', ...HTTP, '--json', '--cwd', '/no/such/folder', ...node('x.js'))).toEqual({
      code: 3,
      stdout: '',
      stderr:
        'isthmus: Cannot connect: x.js could not be started: working directory not found: /no/such/folder (ENOENT)\n' +
        'hint: Check the folder of --cwd\n',
    });
  });

  it('but ends at once is started again, and told of when it answers', async () => {
    const folder = freeFolder();
    const program = `${folder}/second-time.mjs`;
    writeFileSync(
      program,
      `import { existsSync, writeFileSync } from 'node:fs';
       const been = ${JSON.stringify(`${folder}/been`)};
       // The first attempt is two processes: one that ends when it is asked its era, and one more to be sure.
       const times = ['1', '2'].find((each) => !existsSync(been + each));
       if (times) {
         writeFileSync(been + times, '');
         console.error('fatal: no database yet');
         process.exit(7);
       }
       process.argv.splice(2, 9, 'demo');
       await import(${JSON.stringify(ISTHMUS)});`,
    );
    const child = startChild(ISTHMUS, { args: ['serve', ...HTTP, '--json', ...node(program)] });
    await child.until('far side', () => child.stderr.includes('Behind it:'));
    expect(child.stderr.split('\n').filter((line) => !/^ |^$/.test(line))).toEqual([
      'fatal: no database yet',
      'fatal: no database yet',
      expect.stringMatching(
        /^isthmus: Cannot connect: second-time\.mjs stopped with code 7 after \d+ ms; last stderr: "fatal: no database yet"; it is started again in (0\.[89]|1\.[012]) s \(1 of 5\)$/,
      ),
      'hint: Run the command directly to see what it needs; isthmus gives it a clean environment, pass variables with --env NAME',
      `Isthmus serves ${process.execPath} ${program} to clients of both eras:`,
      'Connect a client:',
      'Ctrl-C stops it; running calls are finished first.',
      expect.stringContaining('Behind it: '),
    ]);
    expect(await child.first(1)).toEqual([{ addresses: [expect.any(String)], pid: child.pid }]);
  });

  it('is not waited for when it is stopped meanwhile, and nothing is said about that', async () => {
    const child = startChild(ISTHMUS, { args: ['serve', ...HTTP, '--', 'false'] });
    await child.until('third pause', () => child.stderr.includes('(3 of 5)'));
    const said = child.stderr;
    child.kill('SIGINT');
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    expect(child.stderr).toBe(said);
  });
});

describe('with --listen stdio', () => {
  it.each<[string, string[], string]>([
    [
      'a URL where nobody is',
      ['--upstream', 'http://127.0.0.1:9/mcp'],
      'isthmus: Cannot connect to http://127.0.0.1:9/mcp: connection refused; it is tried again with the next request\n' +
        'hint: Is the server running?\n',
    ],
    [
      'a command that is not there',
      ['--', './nope'],
      'isthmus: Cannot connect: nope could not be started: command not found: ./nope (ENOENT)\n' +
        'hint: Check the spelling, or give the full path; --cwd sets the folder that the command runs in\n',
    ],
  ])('%s is on stderr, once, and 3 at the end of input', async (_what, args, stderr) => {
    const child = startChild(ISTHMUS, { args: ['serve', '--listen', 'stdio', ...args] });
    child.send(initialize(1));
    expect(await child.answer(1)).toMatchObject({ error: { code: -32603 } });
    child.send(initialize(2));
    expect(await child.answer(2)).toMatchObject({ error: { code: -32603 } });
    child.end();
    expect(await child.exit()).toEqual({ code: 3, signal: null });
    expect(child.stderr).toBe(stderr);
  });

  it('a server that came later ends with 0', async () => {
    const socket = freeSocket();
    const args = ['serve', '--listen', 'stdio', '--upstream', socket];
    const child = startChild(ISTHMUS, { args });
    child.send(initialize(1));
    expect(await child.answer(1)).toHaveProperty('error');
    await startDemoAt(socket);
    child.send(initialize(2));
    expect(await child.answer(2)).toHaveProperty('result');
    child.end();
    expect(await child.exit()).toEqual({ code: 0, signal: null });
  });

  it('the end of input ends other addresses too, and nothing is wrong with that', async () => {
    const args = ['serve', ...HTTP, '--listen', 'stdio', ...demo()];
    const child = startChild(ISTHMUS, { args });
    child.end();
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    expect(child.stderr).not.toContain('isthmus:');
    expect(child.stderr).not.toContain('Cannot');
  });
});

describe('an address that is taken', () => {
  it.each([
    ['tcp://127.0.0.1:PORT', 'tcp://127.0.0.1:PORT', 'tcp://127.0.0.1:0'],
    ['http://127.0.0.1:PORT/a/b', 'http://127.0.0.1:PORT', 'http://127.0.0.1:0/a/b'],
    ['http://127.0.0.1:PORT', 'http://127.0.0.1:PORT', 'http://127.0.0.1:0/mcp'],
  ])('%s is said in the same words for all kinds, and how to get a free one', async (listen, place, free) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const port = String((other.address() as AddressInfo).port);
    expect(await isthmus('serve', '--listen', listen.replace('PORT', port))).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `isthmus: Cannot listen on ${place.replace('PORT', port)}: another process listens there\n` +
        `hint: --listen ${free} takes a free port\n`,
    });
  });

  it('or a folder that is not there', async () => {
    expect(await isthmus('serve', '--listen', 'unix:/no/such/folder/s')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'isthmus: Cannot listen on unix:/no/such/folder/s: there is no such folder\n' +
        'hint: Give another path: --listen unix:PATH\n',
    });
  });
});

describe('--json', () => {
  it.each<[string, string[]]>([
    ['the demo', []],
    ['a command', demo()],
  ])('is one line on stdout with the addresses, also with -q (%s)', async (_what, behind) => {
    const args = ['serve', '--json', '-q', ...HTTP, '--listen', 'tcp://127.0.0.1:0', ...behind];
    const child = startChild(ISTHMUS, { args });
    const [line] = await child.first(1);
    const { addresses, pid } = line as unknown as { addresses: string[]; pid: number };
    expect(addresses).toEqual([
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:[1-9]\d*\/mcp$/),
      expect.stringMatching(/^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/),
    ]);
    expect(pid).toBe(child.pid);
    expect(await isthmus('call', addresses[0]!, 'echo', 'text=hi')).toMatchObject({ stdout: 'hi\n' });
    child.kill('SIGTERM');
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    expect(child.messages).toHaveLength(1);
    expect(child.impure).toEqual([]);
    expect(child.stderr).toBe('');
  });

  it('is refused where stdout belongs to the protocol', async () => {
    expect(await isthmus('serve', '--json', '--listen', 'stdio')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^isthmus: --json prints on stdout, which belongs to the protocol with --listen stdio/,
      ),
    });
  });
});

describe('--help', () => {
  it('has the exit codes, what stdio among others means, and where stderr goes', async () => {
    const { stdout } = await isthmus('serve', '--help');
    const text = stdout.replace(/\s+/g, ' ');
    for (const words of [
      'With stdio among several, the end of stdin ends them all.',
      'what it writes to stderr is passed on',
      'errors only on stderr, without the addresses (--json prints them)',
      '1 it cannot listen there 2 the command line or the configuration is invalid 3 the server cannot be started, or cannot be used; with stdio, also: it was never reached 130 Ctrl-C a second time',
      '(143: SIGTERM)',
    ]) {
      expect(text).toContain(words);
    }
    const all = (await isthmus('--help')).stdout;
    expect(all).toContain('isthmus COMMAND --help explains a command, its options and its exit codes.');
    expect(all).not.toContain('Exit codes:');
  });
});

describe('what happens to the process', () => {
  it('a crash later is told, and the process comes back for those who are there', async () => {
    const child = startChild(ISTHMUS, { args: ['serve', ...HTTP, ...demo()] });
    await child.until('far side', () => child.stderr.includes('Behind it:'));
    const url = /^ {2}(http\S+)$/m.exec(child.stderr)![1]!;
    await isthmus('call', url, 'crash');
    await child.until('crash', () => child.stderr.includes('is started again'));
    expect(child.stderr).toMatch(/^isthmus: isthmus demo stopped with code \d+ after \d+ ms/m);
    expect(await isthmus('call', url, 'echo', 'text=hi')).toMatchObject({ code: 0, stdout: 'hi\n' });
  });
});
