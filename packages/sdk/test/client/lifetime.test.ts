import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { type Client, createServer, memory, tcp } from '../../src/index.js';
import {
  command,
  failure,
  isSettled,
  openClient,
  program,
  settle,
  textOf,
  until,
} from '../support/client/open-client.js';
import {
  legacyScript,
  methods,
  modernScript,
  type Script,
  scripted,
} from '../support/client/scripted-server.js';
import { isAlive, killAtTheEnd } from '../support/process.js';

/** Modern; the tool `never` is never answered. */
const withNever: Script = (message, connection) => {
  if (message.params?.name !== 'never') modernScript(message, connection);
};

describe('a program that cannot serve', () => {
  const NEVER = { silenceMs: 60_000, bootMs: 60_000, connectTimeoutMs: 60_000 };
  const DIES = ['-e', 'process.stderr.write("missing API key\\n"); process.exitCode = 3'];

  test.each(['auto', 'legacy', 'modern', '2026-07-28', '2025-11-25'])(
    'because it dies at start is told when it is dead, with exit code and last words: mode %s',
    async (mode) => {
      const server = command({ command: process.execPath, args: DIES });
      // Longer than the test may take: nothing but its end is waited for.
      const error = await failure(openClient(server, { mode, ...NEVER }));
      expect(error.message).toContain('code 3');
      expect(error.message).toContain('missing API key');
      expect(error).toMatchObject({ name: 'IsthmusError', code: 'CHILD_EXITED' });
      // Nothing is known of its era.
      expect(error.message).not.toContain('legacy');
      expect(server.mostAlive()).toBe(1);
      expect(server.pids.filter(isAlive)).toEqual([]);
    },
  );

  test('and dies while we write to it is reported with its exit and last stderr, every time', async () => {
    // The pipe breaks before the exit is known: the cause must not get lost on the way.
    for (let i = 0; i < 5; i += 1) {
      const server = command({
        command: process.execPath,
        args: [
          '-e',
          'process.stdin.destroy(); process.stderr.write("no stdin\\n"); setTimeout(() => process.exit(4), 30)',
        ],
      });
      const error = await failure(openClient(server, { mode: 'modern' }));
      expect(error.message).toContain('code 4');
      expect(error.message).toContain('no stdin');
      expect(error).toMatchObject({ code: 'CHILD_EXITED' });
    }
  });

  test.each(['auto', 'legacy', 'modern'])(
    'because it does not exist is told by its name: mode %s',
    async (mode) => {
      const server = command({ command: '/no/such/program' });
      const error = await failure(openClient(server, { mode }));
      expect(error).toMatchObject({ name: 'IsthmusError', code: 'CANNOT_START' });
      expect(error.message).toContain('/no/such/program');
      expect(error.message).toContain('not found');
      expect(error.message).not.toContain('legacy');
    },
  );

  test('because its folder does not exist is reported with the folder', async () => {
    const server = command({ command: process.execPath, cwd: '/no/such/folder' });
    const error = await failure(openClient(server));
    expect(error).toMatchObject({ code: 'CANNOT_START' });
    expect(error.message).toContain('/no/such/folder');
  });

  test('because its address refuses the connection is reported at once', async () => {
    const error = await failure(openClient(tcp({ port: await freePort() })));
    expect(error).toMatchObject({ code: 'ADDRESS_UNAVAILABLE', sent: 'no' });
  });

  test('and is given up on is not left behind', async () => {
    const server = command({
      command: process.execPath,
      args: ['-e', 'process.stdin.resume(); process.stdin.on("end", () => process.exit())'],
    });
    const error = await failure(openClient(server, { connectTimeoutMs: 400, silenceMs: 100, bootMs: 100 }));
    expect(error).toMatchObject({ code: 'TIMED_OUT' });
    expect(server.pids).toHaveLength(1);
    expect(server.pids.filter(isAlive)).toEqual([]);
  });
});

describe('close', () => {
  test('rejects what is pending at once, with sent "maybe", also while the process takes its time', async () => {
    const server = program('server-ignores-sigterm.mjs', ['modern'], {
      shutdown: { closeMs: 300, termMs: 300, killMs: 2000 },
    });
    const client = await openClient(server);
    const calls = ['tools/list', 'tools/call', 'x/y'].map((method) => failure(client.request(method)));
    const [, call] = calls;
    const closing = client.close();
    expect(await call).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'maybe' });
    await Promise.all(calls);
    expect(server.pids.filter(isAlive)).toHaveLength(1);
    await closing;
    expect(server.pids.filter(isAlive)).toEqual([]);
  });

  test('settles, and rejects at once, when a grandchild that ignores SIGTERM holds the pipes', async () => {
    const stubborn = `
      process.on('SIGTERM', () => {});
      process.stdout.write('ready\\n');
      setTimeout(() => {}, 60000)`;
    const parent = `
      const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { stdio: ['ignore', 'inherit', 'inherit'] });
      process.stderr.write('grandchild ' + child.pid + '\\n');
      import(process.argv[1]).then(({ serveLines, NO_ANSWER }) => serveLines({ tools: { never: () => NO_ANSWER } }));`;
    const lines = new URL('../../../../test/programs/support/line-server.mjs', import.meta.url).href;
    const server = command({
      command: process.execPath,
      args: ['-e', parent, lines],
      shutdown: { closeMs: 300, termMs: 300, killMs: 2000 },
    });
    const client = await openClient(server);
    const grandchild = killAtTheEnd(Number(/grandchild (\d+)/.exec(server.stderr())![1]));
    const call = failure(client.callTool('never'));
    const closing = client.close();
    expect(await call).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'maybe' });
    expect(isAlive(grandchild)).toBe(true);
    // Were it to wait for the grandchild, it would take a minute.
    await closing;
    expect(isAlive(grandchild)).toBe(false);
  });

  test('may be called twice, and by await using; calls after it say "no"', async () => {
    const server = program('server-with-pages.mjs');
    let client: Client;
    {
      await using scoped = await openClient(server);
      client = scoped;
      await client.listTools();
    }
    expect(server.pids.filter(isAlive)).toEqual([]);
    await Promise.all([client.close(), client.close()]);
    await client.closed;
    expect(await failure(client.listTools())).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
    expect(await failure(client.listen({ tools: true }))).toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect(await failure(client.setLogLevel('info'))).toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect(server.pids).toHaveLength(1);
  });

  test('settles at once while a lost connection is being opened again, and so does the call that waits', async () => {
    const clock = new FakeClock();
    const server = scripted((message, connection) => {
      if (connection.number === 1) modernScript(message, connection);
    });
    const client = await openClient(server, { clock });
    server.connections[0]!.close();
    await settle();
    const call = failure(client.callTool('a'));
    await until('a second connection', () => methods(server.connections[1]).length > 0);
    const closing = client.close();
    expect(await isSettled(closing)).toBe(true);
    expect(await isSettled(call)).toBe(true);
    expect(await call).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
    await until('closed', () => !server.connections[1]!.isOpen());
    // Nothing comes after the close.
    clock.advance(60_000);
    await settle();
    expect(server.connections).toHaveLength(2);
  });

  test('ends the handlers of questions that are open', async () => {
    let aborted = false;
    const server = scripted((message, connection) => {
      legacyScript(message, connection);
      if (message.method === 'tools/call')
        connection.send({
          jsonrpc: '2.0',
          id: 'q',
          method: 'elicitation/create',
          params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
        });
    });
    let asked = false;
    const client = await openClient(server, {
      mode: 'legacy',
      answers: {
        elicit: (_question, { signal }) =>
          new Promise(() => {
            asked = true;
            signal.addEventListener('abort', () => {
              aborted = true;
            });
          }),
      },
    });
    await client.callTool('a');
    await until('the question', () => asked);
    await client.close();
    expect(aborted).toBe(true);
  });
});

describe('abort and timeout', () => {
  test('abort sends notifications/cancelled with the id of the call, and is CANCELLED (CANC-001, CANC-006)', async () => {
    const server = scripted(withNever);
    const client = await openClient(server);
    const off = new AbortController();
    const reason = new Error('enough');
    const call = failure(client.callTool('never', {}, { signal: off.signal }));
    await until('sent', () => methods(server.connections[0]).includes('tools/call'));
    off.abort(reason);
    const error = await call;
    expect(error).toMatchObject({ code: 'CANCELLED', sent: 'maybe', cause: reason });
    await settle();
    const [, sent, cancelled, ...rest] = server.connections[0]!.received;
    expect(cancelled).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: sent!.id, reason: expect.any(String) },
    });
    expect(cancelled).not.toHaveProperty('id');
    expect(rest).toEqual([]);
    // A second abort, or the late answer, changes nothing.
    server.connections[0]!.result(sent!, { resultType: 'complete', content: [] });
    expect(textOf(await client.callTool('a'))).toBe('a');
  });

  test('a signal that is aborted already sends nothing, and says so', async () => {
    const server = scripted(withNever);
    const client = await openClient(server);
    expect(await failure(client.callTool('a', {}, { signal: AbortSignal.abort() }))).toMatchObject({
      code: 'CANCELLED',
      sent: 'no',
    });
    await settle();
    expect(methods(server.connections[0])).toEqual(['server/discover']);
  });

  test('an abort after the answer sends nothing (CANC-010)', async () => {
    const server = scripted(withNever);
    const client = await openClient(server);
    const off = new AbortController();
    await client.callTool('a', {}, { signal: off.signal });
    off.abort();
    await settle();
    expect(methods(server.connections[0])).toEqual(['server/discover', 'tools/call']);
  });

  test('timeout is TIMED_OUT, cancels on the wire, and the default is that of connect (CANC-013, CANC-014)', async () => {
    const clock = new FakeClock();
    const server = scripted(withNever);
    const client = await openClient(server, { clock, timeoutMs: 5000 });
    const long = failure(client.callTool('never'));
    const short = failure(client.callTool('never', {}, { timeoutMs: 200 }));
    await settle();
    clock.advance(200);
    expect(await short).toMatchObject({ code: 'TIMED_OUT', sent: 'maybe' });
    expect(await isSettled(long)).toBe(false);
    clock.advance(4800);
    expect(await long).toMatchObject({ code: 'TIMED_OUT', sent: 'maybe' });
    await settle();
    const cancelled = server.connections[0]!.received.filter(
      ({ method }) => method === 'notifications/cancelled',
    );
    expect(cancelled.map(({ params }) => params.requestId)).toEqual([2, 1]);
  });

  test('progress restarts the timeout only up to maxTimeoutMs in all (CANC-015)', async () => {
    const clock = new FakeClock();
    const server = scripted(withNever);
    const client = await openClient(server, { clock });
    const updates: number[] = [];
    const call = failure(
      client.callTool(
        'never',
        {},
        { timeoutMs: 100, maxTimeoutMs: 250, onProgress: ({ progress }) => updates.push(progress) },
      ),
    );
    await settle();
    const { params } = server.connections[0]!.received[1]!;
    for (let step = 1; step <= 3; step += 1) {
      clock.advance(80);
      const progressToken = params._meta.progressToken;
      server.connections[0]!.send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: step },
      });
      await settle();
      expect(await isSettled(call)).toBe(false);
    }
    expect(updates).toEqual([1, 2, 3]);
    clock.advance(10);
    expect(await call).toMatchObject({ code: 'TIMED_OUT' });
  });

  test('both also hold while a lost connection is being opened again', async () => {
    const clock = new FakeClock();
    const server = scripted((message, connection) => {
      if (connection.number === 1) modernScript(message, connection);
    });
    const client = await openClient(server, { clock });
    server.connections[0]!.close();
    await settle();
    const off = new AbortController();
    const aborted = failure(client.callTool('a', {}, { signal: off.signal }));
    const timed = failure(client.callTool('b', {}, { timeoutMs: 100 }));
    await until('a second connection', () => methods(server.connections[1]).length > 0);
    off.abort();
    expect(await isSettled(aborted)).toBe(true);
    expect(await aborted).toMatchObject({ code: 'CANCELLED', sent: 'no' });
    clock.advance(100);
    expect(await isSettled(timed)).toBe(true);
    expect(await timed).toMatchObject({ code: 'TIMED_OUT', sent: 'no' });
  });
});

describe('errors', () => {
  test('of the wire have their number, message and data (ERR-010)', async () => {
    const server = scripted((message, connection) => {
      if (message.method === 'tools/call') connection.error(message, -32099, { a: [1] });
      else modernScript(message, connection);
    });
    const client = await openClient(server);
    expect(await failure(client.callTool('a'))).toMatchObject({
      name: 'ProtocolError',
      code: -32099,
      message: 'error -32099',
      data: { a: [1] },
    });
  });

  test('of arguments that are not JSON say that nothing was sent', async () => {
    const server = scripted(modernScript);
    const client = await openClient(server);
    expect(await failure(client.callTool('a', { big: 10n }))).toMatchObject({
      code: 'NOT_ENCODABLE',
      sent: 'no',
    });
    expect(textOf(await client.callTool('a'))).toBe('a');
  });

  test('of a connection that is gone and is not to be opened again say that nothing was sent', async () => {
    const server = scripted(withNever);
    const client = await openClient(server, { reconnect: false });
    const pending = failure(client.callTool('never'));
    await settle();
    server.connections[0]!.close();
    expect(await pending).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'maybe' });
    await client.closed;
    expect(await failure(client.callTool('a'))).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
    expect(server.connections).toHaveLength(1);
  });

  test('of a reconnect that fails say that the call was not sent, and the next call tries again', async () => {
    let broken = false;
    const server = scripted((message, connection) => {
      if (broken) connection.close();
      else modernScript(message, connection);
    });
    const client = await openClient(server);
    broken = true;
    server.connections[0]!.close();
    await settle();
    expect(await failure(client.callTool('a'))).toMatchObject({ sent: 'no' });
    broken = false;
    expect(textOf(await client.callTool('a'))).toBe('a');
  });

  test('of questions without an answer say that the call may have run (MRTR-028)', async () => {
    const server = scripted((message, connection) => {
      if (message.method === 'tools/call')
        connection.result(message, {
          resultType: 'input_required',
          inputRequests: { q: { method: 'roots/list' } },
        });
      else modernScript(message, connection);
    });
    const client = await openClient(server);
    expect(await failure(client.callTool('a'))).toMatchObject({
      name: 'IsthmusError',
      code: 'CANNOT_ANSWER',
      sent: 'maybe',
    });
  });

  test.each([
    { inputRequests: { q: null } },
    { inputRequests: { q: { method: 'elicitation/create' } } },
    { inputRequests: { q: { params: {} } } },
    { inputRequests: ['roots/list'] },
    { requestState: 7 },
    {},
  ])('of questions that are none (%j) are local errors with a code (MRTR-004)', async (round) => {
    let calls = 0;
    const server = scripted((message, connection) => {
      if (message.method !== 'tools/call') return modernScript(message, connection);
      calls += 1;
      connection.result(message, { resultType: 'input_required', ...round });
    });
    const client = await openClient(server, { answers: { elicit: () => ({ action: 'cancel' }) } });
    const error = await failure(client.callTool('a'));
    expect(error).toMatchObject({ name: 'IsthmusError', code: 'INVALID_RESULT', sent: 'maybe' });
    expect(calls).toBe(1);
  });

  test('an input_required for a method that has no rounds is invalid (MRTR-003)', async () => {
    const server = scripted((message, connection) => {
      if (message.method === 'tools/list')
        connection.result(message, { resultType: 'input_required', requestState: 's' });
      else modernScript(message, connection);
    });
    const client = await openClient(server);
    expect(await failure(client.listTools())).toMatchObject({ code: 'INVALID_RESULT' });
  });

  test('a modern result without resultType is complete (RTYPE-004)', async () => {
    const server = scripted((message, connection) => {
      if (message.method === 'tools/call') connection.result(message, { content: [] });
      else modernScript(message, connection);
    });
    expect((await (await openClient(server)).callTool('a')).content).toEqual([]);
  });

  test.each(['onProgress', 'onLog'] as const)(
    'thrown by %s of the caller cost neither the call nor the process',
    async (name) => {
      const server = scripted((message, connection) => {
        if (message.method === 'tools/call') {
          const progressToken = message.params._meta.progressToken;
          if (name === 'onProgress')
            connection.send({
              jsonrpc: '2.0',
              method: 'notifications/progress',
              params: { progressToken, progress: 1 },
            });
          else
            connection.send({
              jsonrpc: '2.0',
              method: 'notifications/message',
              params: { level: 'info', data: 'x' },
            });
        }
        modernScript(message, connection);
      });
      const client = await openClient(server);
      let called = 0;
      const thrower = () => {
        called += 1;
        throw new Error('a bug of the caller');
      };
      expect(textOf(await client.callTool('a', {}, { [name]: thrower, timeoutMs: 2000 }))).toBe('a');
      expect(called).toBe(1);
      expect(textOf(await client.callTool('b'))).toBe('b');
    },
  );
});

describe('a lost connection', () => {
  test('is opened again for the next call, in the era that is known, and calls are never replayed (LIFE-005, LIFE-006)', async () => {
    const server = scripted((message, connection) => {
      if (message.params?.name === 'die') connection.close();
      else if (message.method === 'server/discover') connection.error(message, -32601);
      else legacyScript(message, connection);
    });
    const client = await openClient(server);
    expect(await failure(client.callTool('die'))).toMatchObject({ sent: 'maybe' });
    const [a, b] = await Promise.all([client.callTool('a'), client.callTool('b')]);
    expect([textOf(a), textOf(b)]).toEqual(['a', 'b']);
    expect(server.connections).toHaveLength(2);
    // VER-011: the era is remembered for the life of the client, so no second probe.
    expect(methods(server.connections[1])).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/call',
      'tools/call',
    ]);
    expect(client.era).toBe('legacy');
  });

  test('to a server that has changed its era since is negotiated anew', async () => {
    const server = scripted((message, connection) => {
      if (connection.number === 1 && message.method === 'server/discover') connection.error(message, -32601);
      else (connection.number === 1 ? legacyScript : modernScript)(message, connection);
    });
    const client = await openClient(server);
    expect(client.era).toBe('legacy');
    server.connections[0]!.close();
    await settle();
    expect(textOf(await client.callTool('a'))).toBe('a');
    expect(client.era).toBe('modern');
  });

  test('many calls at that moment share one new process', async () => {
    const server = program('server-dies-mid-call.mjs');
    const client = await openClient(server);
    await failure(client.callTool('die'));
    await Promise.all(Array.from({ length: 20 }, (_, i) => client.callTool('echo', { text: String(i) })));
    expect(server.pids).toHaveLength(2);
    expect(server.mostAlive()).toBe(1);
  });
});

describe('over a socket', () => {
  test('a silent legacy peer is found out like one on stdio (STDIO-016)', async () => {
    const port = await serveSocket((message) =>
      message.method === 'initialize'
        ? {
            protocolVersion: '2025-06-18',
            capabilities: {},
            serverInfo: { name: 'old', version: '1' },
          }
        : undefined,
    );
    const client = await openClient(tcp({ port }), { silenceMs: 100 });
    expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-06-18' });
    await client.close();
  });

  test('a call fails at once when the peer hangs up', async () => {
    const port = await serveSocket((message) =>
      message.method === 'initialize'
        ? { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'old', version: '1' } }
        : 'hang up',
    );
    const client = await openClient(tcp({ port }), { mode: 'legacy', reconnect: false });
    // Otherwise it would wait for its timeout, which is longer than that of the test.
    expect(await failure(client.callTool('a'))).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'maybe' });
  });
});

describe('much at once', () => {
  test('many large calls with large answers do not stop each other, over pipes to a real server', async () => {
    // 30 MB in each direction: whoever stops reading while he writes would wait for ever.
    const server = command({
      command: process.execPath,
      args: [
        '--input-type=module',
        '-e',
        `import { createServer, serve, stdio } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
         const server = createServer({ name: 'echo', version: '1' });
         server.tool('echo', { input: { type: 'object', properties: { text: { type: 'string' } } } }, ({ text }) => text);
         await serve(server, stdio());`,
      ],
    });
    const client = await openClient(server, { timeoutMs: 15_000 });
    const text = 'x'.repeat(100_000);
    const results = await Promise.all(
      Array.from({ length: 300 }, (_, i) => client.callTool('echo', { text: `${i} ${text}` })),
    );
    expect(results.every((result, i) => textOf(result).startsWith(`${i} x`))).toBe(true);
  });

  test('a server that writes much and reads only afterwards does not cause a deadlock either', async () => {
    // It answers each call with 100 kB, and does not read the next one before that is written.
    const server = program('server-echoes-in-step.mjs');
    const client = await openClient(server, { timeoutMs: 15_000 });
    const text = 'x'.repeat(100_000);
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, i) => client.callTool('echo', { text: `${i} ${text}` })),
    );
    expect(results.every((result, i) => textOf(result).startsWith(`${i} x`))).toBe(true);
  });
});

test('a client in the same process needs no process, and is modern (DISC-007)', async () => {
  const server = createServer({ name: 'here', version: '1' });
  server.tool('hello', {}, () => 'hello');
  const client = await openClient(memory(server));
  expect(client.verdict).toMatchObject({ era: 'modern', source: 'probe' });
  expect(textOf(await client.callTool('hello'))).toBe('hello');
});

test('the process of a client that was only connected and closed can end: nothing is left in its event loop', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const dist = new URL('../../dist/index.js', import.meta.url).href;
  const echo = new URL('../../../../test/programs/server-silent-on-discover.mjs', import.meta.url).pathname;
  const host = `
    import { connect, fileEraCache, stdio } from ${JSON.stringify(dist)};
    const client = await connect(
      stdio({ command: process.execPath, args: [${JSON.stringify(echo)}] }),
      { cache: fileEraCache({ folder: ${JSON.stringify(folder)} }), silenceMs: 100, bootMs: 300 });
    await client.close();
    process.stdout.write('closed ' + Date.now());
    process.on('exit', () => process.stdout.write(' exit ' + Date.now()));`;
  const { execFile } = await import('node:child_process');
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, ['--input-type=module', '-e', host], { timeout: 60_000 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
  // The timer for the connection alone would hold it for half a minute.
  const [, closed, exit] = /closed (\d+) exit (\d+)/.exec(output)!;
  expect(Number(exit) - Number(closed)).toBeLessThan(10_000);
});

async function freePort(): Promise<number> {
  const server = createSocketServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A server of lines on a TCP port; an answer of `undefined` is silence. */
async function serveSocket(
  answer: (message: { method?: string }) => object | 'hang up' | undefined,
): Promise<number> {
  const server = createSocketServer((socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk;
      const lines = text.split('\n');
      text = lines.pop()!;
      for (const line of lines) {
        const message = JSON.parse(line) as { id?: number; method?: string };
        const result = message.id === undefined ? undefined : answer(message);
        if (result === 'hang up') socket.destroy();
        else if (result) socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as { port: number }).port;
}
