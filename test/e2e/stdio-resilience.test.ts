/**
 * A stdio server as a real process, against everything that pipes and clients do. The cases come from the
 * weaknesses of other servers: `research/official-sdk.md` §§2, 4 and the resilient transport of seed 002.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Child, type Ended, fixture, ISTHMUS, startChild, startDemo } from '../support/child.js';
import {
  call,
  ENVELOPE,
  initialize,
  legacyCall,
  line,
  type Message,
  request,
  textOf,
} from '../support/messages.js';

const MIB = 1024 * 1024;
const CLEAN: Ended = { code: 0, signal: null };
const onLinux = process.platform === 'linux';

describe('a line that is no message', () => {
  const opened: Record<string, object[]> = {
    'before any era is chosen': [],
    'in the modern era': [request('open', 'server/discover')],
    'in the legacy era': [initialize('open')],
  };
  for (const [when, opening] of Object.entries(opened)) {
    it(`is answered once, with its id where it has one, ${when}`, async () => {
      const demo = startDemo();
      demo.send(...opening);
      for (const { bad } of BAD_LINES) {
        demo.write(bad);
        demo.write('\n');
        demo.send({ jsonrpc: '2.0', method: 'notifications/separator' });
      }
      demo.end();
      expect(await demo.exit()).toEqual(CLEAN);
      expect(demo.impure).toEqual([]);
      const answers = demo.messages.slice(opening.length);
      expect(
        answers.map(({ id, error }, at) => ({ what: BAD_LINES[at]?.what, code: error?.code, id })),
      ).toEqual(BAD_LINES.map(({ what, code, id }) => ({ what, code, id })));
      for (const answer of answers) expect(answer).not.toHaveProperty('id', null);
      expect(demo.stderr).toBe('');
    });
  }

  it('does not stop the call behind it, and leaves the era open', async () => {
    const demo = startDemo();
    demo.write('{"price": Infinity}\n');
    demo.send(initialize(1));
    demo.write('{"price": NaN}\n');
    demo.send(legacyCall(2, 'echo', { text: 'still here' }));
    expect((await demo.answer(1)).result.protocolVersion).toBe('2025-11-25');
    expect(textOf(await demo.answer(2))).toBe('still here');
    expect(demo.messages.filter(({ error }) => error?.code === -32700)).toHaveLength(2);
  });

  it('does not reach the answer to another request: ids inside params or results are not believed', async () => {
    const demo = startDemo();
    demo.write('{"jsonrpc":"2.0","method":"x","params":{"id":1,"oops":}}\n');
    demo.write('{"jsonrpc":"2.0","id":1,"result":{"oops":}}\n');
    const answers = await demo.first(2);
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [undefined, -32700],
      [undefined, -32700],
    ]);
  });

  it('may come 100,000 times: each is answered, and memory stays bounded', async () => {
    let answers = 0;
    let wrong = '';
    const expected =
      '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: the line is not valid JSON"}}';
    const demo = startDemo({
      onLine(text) {
        answers += 1;
        if (text !== expected) wrong ||= text;
      },
    });
    await demo.pour(Array.from({ length: 100 }, () => 'not json\n'.repeat(1000)));
    await demo.until('100,000 answers', () => answers === 100_000);
    if (onLinux) expect(demo.peakMemory()).toBeLessThan(200);
    demo.end();
    expect(await demo.exit()).toEqual(CLEAN);
    expect({ answers, wrong }).toEqual({ answers: 100_000, wrong: '' });
  });
});

describe('framing', () => {
  it('takes CRLF, blank lines, white space and a stray top-level key in its stride', async () => {
    const demo = startDemo();
    demo.write(`\r\n\n  \t\n${JSON.stringify(call(1, 'echo', { text: 'crlf' }))}\r\n\r\n   `);
    demo.write(line({ ...call(2, 'echo', { text: 'extra' }), traceId: 'x', extra: { id: 99 } }));
    demo.write('\t\u000b\f \n');
    demo.end();
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.messages.map((message) => [message.id, textOf(message)])).toEqual([
      [1, 'crlf'],
      [2, 'extra'],
    ]);
  });

  it('skips a byte order mark at the start, even one that comes byte by byte', async () => {
    const demo = startDemo();
    const bytes = Buffer.from(`\uFEFF${line(call(1, 'echo', { text: 'bom' }))}`);
    await writeApart(demo, [bytes.subarray(0, 1), bytes.subarray(1, 2), bytes.subarray(2)]);
    expect(textOf(await demo.answer(1))).toBe('bom');
    demo.end();
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.messages).toHaveLength(1);
  });

  it('keeps characters whole that are split between reads, and U+2028, U+0085 and lone surrogates', async () => {
    const text = 'é 日 🚀 \u2028 \u2029 \u0085 \u0000';
    const demo = startDemo();
    const bytes = Buffer.from(line(call(1, 'echo', { text })));
    const at = bytes.indexOf(Buffer.from('🚀'));
    await writeApart(demo, [
      bytes.subarray(0, at + 1),
      bytes.subarray(at + 1, at + 3),
      bytes.subarray(at + 3),
    ]);
    expect(textOf(await demo.answer(1))).toBe(text);
    demo.write(line(call(2, 'echo', { text: 'lone' })).replace('lone', '\\ud800'));
    expect(textOf(await demo.answer(2))).toBe('\ud800');
  });

  it('does not need a newline behind the last line', async () => {
    const demo = startDemo();
    demo.end(`${line(call(1, 'echo', { text: 'a' }))}${JSON.stringify(call(2, 'echo', { text: 'last' }))}`);
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.messages.map(textOf)).toEqual(['a', 'last']);
  });

  it('answers a last line that was cut off, too', async () => {
    const demo = startDemo();
    demo.end(JSON.stringify(call(2, 'echo', { text: 'last' })).slice(0, -10));
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.messages.map(({ id, error }) => [id, error?.code])).toEqual([[2, -32700]]);
  });

  it('echoes 9 MB, written in small pieces, without quadratic cost', async () => {
    const demo = startDemo();
    const text = 'abcdefgh€'.repeat(MIB);
    const whole = line(call(1, 'echo', { text }));
    const pieces: string[] = [];
    for (let at = 0; at < whole.length; at += 4096) pieces.push(whole.slice(at, at + 4096));
    demo.send(call(0, 'echo', { text: 'warm' }));
    await demo.answer(0);
    await demo.pour(pieces);
    const answer = await demo.answer(1);
    // The quadratic reader of the official SDK takes more than 10 s here.
    expect(demo.cpuMs()).toBeLessThan(8000);
    expect(textOf(answer) === text).toBe(true);
  });

  it('refuses a line of 17 MiB once, with its id, in bounded memory, and lives on', async () => {
    const demo = startDemo();
    demo.send(call(1, 'echo', { text: 'before' }));
    await demo.answer(1);
    const before = onLinux ? demo.peakMemory() : 0;
    const body = 'x'.repeat(MIB);
    await demo.pour([
      '{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"echo","arguments":{"text":"',
      ...Array.from({ length: 17 }, () => body),
      '"}}}\n',
    ]);
    demo.send(call(2, 'echo', { text: 'after' }));
    expect(textOf(await demo.answer(2))).toBe('after');
    const refused = await demo.answer('long');
    expect(refused.error?.code).toBe(-32600);
    expect(refused.error?.message).toContain('16777216');
    demo.end();
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.messages.map(({ id }) => id)).toEqual([1, 'long', 2]);
    expect(before).toBeLessThan(300);
  });

  it.skipIf(!onLinux)('does not keep a line without end: 400 MiB cost less than 200 MB', async () => {
    const demo = startDemo();
    const body = 'x'.repeat(4 * MIB);
    await demo.pour(Array.from({ length: 100 }, () => body));
    await demo.pour(['\n', line(call(2, 'echo', { text: 'after' }))]);
    expect(textOf(await demo.answer(2))).toBe('after');
    expect(demo.peakMemory()).toBeLessThan(200);
    expect(demo.messages.map(({ id, error }) => [id, error?.code])).toEqual([
      [undefined, -32600],
      [2, undefined],
    ]);
  });

  it('keeps to maxLineBytes where that was set: exactly the limit passes, one more does not', async () => {
    const child = startChild(fixture('server-with-small-lines.mjs'));
    const fill = (size: number, id: number) => {
      const empty = JSON.stringify(call(id, 'hello', { fill: '' }));
      return `${JSON.stringify(call(id, 'hello', { fill: 'x'.repeat(size - empty.length) }))}\n`;
    };
    child.write(fill(1024, 1) + fill(1025, 2) + fill(1024, 3));
    child.end(fill(5000, 4).trimEnd());
    expect(await child.exit()).toEqual(CLEAN);
    expect(child.messages.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, undefined],
      [2, -32600],
      [3, undefined],
      [4, -32600],
    ]);
  });
});

describe('hostile but valid input', () => {
  it('nested 100,000 levels deep is answered, whatever part of the message it is', async () => {
    const demo = startDemo();
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const withDeep = (id: number, at: 'text' | 'extra' | 'meta') => {
      const args =
        at === 'text' ? `{"text":${deep}}` : at === 'extra' ? `{"text":"x","y":${deep}}` : '{"text":"x"}';
      const meta = JSON.stringify(ENVELOPE).slice(1);
      const _meta = at === 'meta' ? `{"x":${deep},${meta}` : `{${meta}`;
      return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":${args},"_meta":${_meta}}}\n`;
    };
    demo.write(withDeep(1, 'text') + withDeep(2, 'extra') + withDeep(3, 'meta'));
    demo.write(`{"jsonrpc":"2.0","id":${deep},"method":"ping"}\n`);
    demo.write(`{"jsonrpc":"2.0","id":4,"method":"ping","params":${deep}}\n`);
    demo.write(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"x":${'['.repeat(100_000)}\n`);
    demo.send(call(6, 'echo', { text: 'alive' }));
    for (const id of [1, 2, 3, 4, 6]) await demo.answer(id);
    demo.end();
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.messages).toHaveLength(7);
    // Refused, not served: a thousand levels are the limit.
    expect((await demo.answer(2)).error).toMatchObject({ code: -32600 });
    expect(textOf(await demo.answer(6))).toBe('alive');
  });

  it('with names from Object.prototype is answered and changes nothing', async () => {
    const demo = startDemo();
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    for (const name of names) demo.send(call(name, name));
    demo.write(
      line(call('polluting', 'echo', { text: 'x' })).replace(
        '"text":"x"',
        '"text":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}',
      ),
    );
    for (const name of names)
      demo.send({ jsonrpc: '2.0', id: `m ${name}`, method: name, params: { _meta: ENVELOPE } });
    demo.send(call('last', 'echo', { text: 'ok' }));
    demo.end();
    expect(await demo.exit()).toEqual(CLEAN);
    for (const name of names) {
      expect((await demo.answer(name)).error?.code).toBe(-32602);
      expect((await demo.answer(`m ${name}`)).error?.code).toBe(-32601);
    }
    expect(textOf(await demo.answer('polluting'))).toBe('x');
    expect(textOf(await demo.answer('last'))).toBe('ok');
    expect(demo.messages).toHaveLength(10);
  });

  it('keeps the JSON type of every id', async () => {
    const ids = [
      0,
      '',
      -1,
      '0',
      '1',
      1,
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
      ' 0 ',
      'id'.repeat(50_000),
      'ü\u2028"\\',
    ];
    const demo = startDemo();
    for (const id of ids) demo.send(call(id, 'echo', { text: 'x' }));
    demo.end();
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.messages.map(({ id }) => id)).toEqual(ids);
  });

  it.skipIf(!onLinux)('in one batch of a million nothings is refused at a bounded cost', async () => {
    const demo = startDemo({ read: false });
    demo.send(initialize(1, '2025-03-26'));
    await demo.pour(['[', `${'1,'.repeat(50_000)}`.repeat(20), '1]\n']);
    demo.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
    demo.readOutput();
    expect((await demo.answer(2)).result).toEqual({});
    expect(demo.peakMemory()).toBeLessThan(300);
    expect(demo.messages.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, undefined],
      [undefined, -32600],
      [2, undefined],
    ]);
  });

  it('that a handler turns into a hostile failure is answered like any other', async () => {
    const child = startChild(fixture('server-that-throws-badly.mjs'));
    const kinds = [
      'nothing',
      'null',
      'text',
      'symbol',
      'bigint',
      'circular',
      'bigintMessage',
      'throwingMessage',
      'proxy',
    ];
    const values = ['bigint', 'symbol', 'circular', 'toJson', 'thenGetter', 'deep', 'proxy'];
    const ids: string[] = [];
    const send = (id: string, message: object) => {
      ids.push(id);
      child.send(message);
    };
    for (const kind of kinds) {
      for (const way of ['throw', 'reject']) {
        send(`${way} ${kind}`, call(`${way} ${kind}`, `${way}_${kind}`));
        const uri = `bad://${way}/${kind}`;
        send(uri, request(uri, 'resources/read', { uri }));
      }
    }
    for (const value of values) {
      for (const way of ['return', 'resolve'])
        send(`${way} ${value}`, call(`${way} ${value}`, `${way}_${value}`));
    }
    send('last', call('last', 'hello'));
    child.end();
    expect(await child.exit()).toEqual(CLEAN);
    expect(child.messages.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(textOf(await child.answer('last'))).toBe('hello');
  });

  it('that a handler answers with nonsense is answered in the oldest revision, too', async () => {
    const child = startChild(fixture('server-that-throws-badly.mjs'));
    child.send(initialize(0, '2024-11-05'));
    ['null_messages', 'async_null_messages'].forEach((name, at) => {
      child.send({ jsonrpc: '2.0', id: at + 1, method: 'prompts/get', params: { name } });
    });
    child.send(legacyCall(3, 'hello'));
    child.end();
    expect(await child.exit()).toEqual(CLEAN);
    expect(child.messages.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3]);
  });
});

describe('the end of input', () => {
  it('behind 50 calls: 50 answers, exit code 0', async () => {
    const demo = startDemo();
    const calls = Array.from({ length: 50 }, (_, id) => line(call(id, 'echo', { text: `n${id}` })));
    demo.end(calls.join(''));
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.messages.map((message) => [message.id, textOf(message)])).toEqual(
      Array.from({ length: 50 }, (_, id) => [id, `n${id}`]),
    );
    expect(demo.stderr).toBe('');
  });

  it('behind the very first request, in either era, loses nothing', async () => {
    for (const opening of [initialize(1), request(1, 'server/discover'), call(1, 'sleep', { ms: 20 })]) {
      const demo = startDemo();
      demo.end(line(opening));
      expect(await demo.exit()).toEqual(CLEAN);
      expect(demo.messages.map(({ id, error }) => [id, error])).toEqual([[1, undefined]]);
    }
  });

  it('behind calls that take 200 ms waits for them', async () => {
    const child = startChild(fixture('server-with-slow-tool.mjs'));
    child.end([1, 2, 3].map((id) => line(call(id, 'slow', { ms: 200 }))).join(''));
    expect(await child.exit()).toEqual(CLEAN);
    expect(child.messages.map(textOf)).toEqual(['took 200 ms', 'took 200 ms', 'took 200 ms']);
  });

  it('behind more slow calls than may run at once finishes those that wait, too', async () => {
    const demo = startDemo();
    demo.end(Array.from({ length: 600 }, (_, id) => line(call(id, 'sleep', { ms: 20 }))).join(''));
    expect(await demo.exit()).toEqual(CLEAN);
    expect(new Set(demo.messages.map(({ id }) => id)).size).toBe(600);
    expect(demo.messages.filter(({ error }) => error)).toEqual([]);
  });

  it('closes an open subscription with its result', async () => {
    const demo = startDemo();
    demo.end(line(request('l', 'subscriptions/listen', { notifications: { toolsListChanged: true } })));
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.messages.map(({ id, method }) => id ?? method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'l',
    ]);
  });

  it('ends an idle server at once', async () => {
    const demo = startDemo();
    demo.send(call(1, 'echo', { text: 'x' }));
    await demo.answer(1);
    const start = performance.now();
    demo.end();
    expect(await demo.exit()).toEqual(CLEAN);
    // The grace is 10 s and the flush has 5: neither may be waited for.
    expect(performance.now() - start).toBeLessThan(4500);
  });

  it('ends a server that was never spoken to, and one whose input was closed from the start', async () => {
    const demo = startDemo();
    demo.end();
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.messages).toEqual([]);
    expect(demo.stderr).toBe('');
  });

  it('ends a server that holds a handle open', async () => {
    const child = startChild(fixture('server-with-open-handle.mjs'));
    child.send(call(1, 'hello'));
    expect(textOf(await child.answer(1))).toBe('hello');
    const start = performance.now();
    child.end();
    expect(await child.exit()).toEqual(CLEAN);
    expect(performance.now() - start).toBeLessThan(4500);
  });

  it('with calls that never end: after the grace each gets an error, then exit code 0', async () => {
    const child = startChild(fixture('server-that-never-answers.mjs'), { args: ['200'] });
    // Two may run at once: three of these wait for a place and are owed an answer all the same.
    child.end([1, 2, 3, 4, 5].map((id) => line(call(id, 'never'))).join(''));
    expect(await child.exit()).toEqual(CLEAN);
    expect(child.messages.map(({ id, error }) => [id, error?.code])).toEqual(
      [1, 2, 3, 4, 5].map((id) => [id, -32603]),
    );
    expect(child.stderr.match(/aborted/g)).toHaveLength(2);
  });

  it('is noticed although the queue is full of calls that never end', async () => {
    // Two run, two wait: whatever becomes of the others, all are owed an answer and the process an end.
    const child = startChild(fixture('server-that-never-answers.mjs'), { args: ['200', '2'] });
    const ids = Array.from({ length: 20 }, (_, id) => id);
    for (const id of ids.slice(0, 4)) child.send(call(id, 'never'));
    await child.until('both have begun', () => child.stderr.match(/begun/g)?.length === 2);
    child.end(
      ids
        .slice(4)
        .map((id) => line(call(id, 'never')))
        .join(''),
    );
    expect(await child.exit(10_000)).toEqual(CLEAN);
    expect(child.messages.map(({ id }) => id as number).sort((a, b) => a - b)).toEqual(ids);
    expect(child.messages.every(({ error }) => error?.code === -32603)).toBe(true);
  });

  it('with a grace of 0 does not wait', async () => {
    const child = startChild(fixture('server-that-never-answers.mjs'), { args: ['0'] });
    child.end(line(call(1, 'hello')) + line(call(2, 'never')));
    expect(await child.exit()).toEqual(CLEAN);
    expect(child.messages.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, undefined],
      [2, -32603],
    ]);
  });

  it('works with plain files: server < requests.jsonl > answers.jsonl', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'isthmus-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const requests = Array.from({ length: 2000 }, (_, id) =>
      line(
        call(id, id % 100 === 0 ? 'sleep' : 'echo', id % 100 === 0 ? { ms: 5 } : { text: 'x'.repeat(100) }),
      ),
    );
    writeFileSync(join(dir, 'in'), requests.join('').trimEnd());
    const input = openSync(join(dir, 'in'), 'r');
    const output = openSync(join(dir, 'out'), 'w');
    const code = await exitCode([ISTHMUS, 'demo'], [input, output, 'inherit']);
    closeSync(input);
    closeSync(output);
    expect(code).toBe(0);
    const answers = readFileSync(join(dir, 'out'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as Message);
    expect(answers.map(({ id }) => id as number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 2000 }, (_, id) => id),
    );
    expect(answers.filter(({ error }) => error)).toEqual([]);
  });

  it.skipIf(process.platform === 'win32')(
    'works in a pipeline of real pipes, with a reader that is slow to start',
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'isthmus-'));
      onTestFinished(() => rmSync(dir, { recursive: true }));
      const requests = Array.from({ length: 100 }, (_, id) => line(call(id, 'big', { bytes: 65_536 })));
      writeFileSync(join(dir, 'in'), requests.join(''));
      const script = `cat "${join(dir, 'in')}" | "${process.execPath}" "${ISTHMUS}" demo | (sleep 1; cat) > "${join(dir, 'out')}"`;
      expect(await exitCode(['-c', script], ['ignore', 'inherit', 'inherit'], '/bin/sh')).toBe(0);
      const answers = readFileSync(join(dir, 'out'), 'utf8').trimEnd().split('\n');
      expect(answers.map((text) => (JSON.parse(text) as Message).id)).toEqual(
        Array.from({ length: 100 }, (_, id) => id),
      );
    },
  );

  it('does not cut off a reader that is slow but steady', async () => {
    const demo = startDemo({ read: false });
    demo.end(line(call(1, 'big', { bytes: 4 * MIB })));
    let text = '';
    // 64 KiB every 100 ms: more than 6 s in all, longer than any one wait of the server's.
    for await (const chunk of slowly(demo)) text += chunk;
    expect(text.length).toBeGreaterThan(4 * MIB);
    expect(text.endsWith('\n')).toBe(true);
    expect((await demo.ended).code).toBe(0);
  });
});

describe('a full queue', () => {
  it('does not hide a cancellation: the calls behind it get their turn', async () => {
    const child = startChild(fixture('server-that-never-answers.mjs'), { args: ['200', '2'] });
    for (let id = 0; id < 4; id++) child.send(call(id, 'until_cancelled'));
    await child.until('both have begun', () => child.stderr.match(/begun/g)?.length === 2);
    child.send(call('hello', 'hello'));
    for (let id = 0; id < 4; id++) {
      child.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    }
    await child.until('an answer', () => child.messages.length > 0, 10_000);
    // A server may also refuse the call at once, as long as it does not leave it hanging.
    expect((await child.answer('hello')).id).toBe('hello');
    child.send(call('again', 'hello'));
    expect(textOf(await child.answer('again'))).toBe('hello');
  });

  it('does not hide a client that died: the process ends', async () => {
    const child = startChild(fixture('server-that-never-answers.mjs'), { args: ['200', '2'] });
    for (let id = 0; id < 4; id++) child.send(call(id, 'never'));
    await child.until('both have begun', () => child.stderr.match(/begun/g)?.length === 2);
    await child.pour(Array.from({ length: 4 }, (_, id) => line(call(id + 4, 'never'))));
    child.stdout.destroy();
    child.stdin.destroy();
    expect(await child.exit(10_000)).toEqual(CLEAN);
  });
});

describe('signals', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`${signal} during a call: it is answered, then exit code 0`, async () => {
      const child = startChild(fixture('server-with-slow-tool.mjs'));
      child.send(call(1, 'slow', { ms: 300 }));
      await child.until('the call has begun', () => child.stderr.includes('begun'));
      child.kill(signal);
      expect(await child.exit()).toEqual(CLEAN);
      expect(child.messages.map(textOf)).toEqual(['took 300 ms']);
    });

    it(`${signal} while idle ends it at once, although its input is open`, async () => {
      const child = startChild(fixture('server-with-open-handle.mjs'));
      child.send(call(1, 'hello'));
      await child.answer(1);
      const start = performance.now();
      child.kill(signal);
      expect(await child.exit()).toEqual(CLEAN);
      expect(performance.now() - start).toBeLessThan(4500);
    });
  }

  it('a request that comes after SIGTERM is refused, not ignored', async () => {
    const child = startChild(fixture('server-with-slow-tool.mjs'));
    child.send(call(1, 'slow', { ms: 1000 }));
    await child.until('the call has begun', () => child.stderr.includes('begun'));
    child.kill('SIGTERM');
    // The signal and the bytes race: only when a probe is refused has the signal been seen.
    for (let id = 2; !child.messages.some(({ error }) => error); id++) {
      child.send(call(id, 'quick'));
      await child.answer(id);
    }
    expect(await child.exit()).toEqual(CLEAN);
    // R6: a host that has sent SIGTERM does not wait for a whole second.
    expect(child.messages.find(({ id }) => id === 1)!.error).toEqual({
      code: -32603,
      message: 'The server stopped before this request was finished',
    });
  });

  it('a second SIGINT does not wait: exit code 130', async () => {
    const child = startChild(fixture('server-that-never-answers.mjs'), { args: ['60000'] });
    child.send(call(1, 'never'), call(2, 'hello'));
    await child.answer(2);
    child.kill('SIGINT');
    // Refused requests show that the first signal has arrived: two signals at once would be one.
    for (let id = 3; !child.messages.some(({ error }) => error); id++) {
      child.send(call(id, 'hello'));
      await child.answer(id);
    }
    child.kill('SIGINT');
    expect(await child.exit()).toEqual({ code: 130, signal: null });
  });

  it('SIGTERM with calls that never end: after the grace each gets an error, then exit code 0', async () => {
    const child = startChild(fixture('server-that-never-answers.mjs'), { args: ['200'] });
    child.send(call(1, 'never'), call(2, 'never'), call(3, 'never'));
    await child.until('both have begun', () => child.stderr.match(/begun/g)?.length === 2);
    child.kill('SIGTERM');
    expect(await child.exit()).toEqual(CLEAN);
    expect(child.messages.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, -32603],
      [2, -32603],
      [3, -32603],
    ]);
  });

  it('the tool crash ends the process with exit code 1', async () => {
    const demo = startDemo();
    demo.send(call(1, 'crash'));
    expect(await demo.exit()).toEqual({ code: 1, signal: null });
  });
});

describe('output', () => {
  it('that user code prints goes to stderr, by every door; stdout stays pure', async () => {
    const child = startChild(fixture('server-that-prints.mjs'));
    child.send(call(1, 'print'), call(2, 'print'));
    await child.answer(1);
    child.end();
    expect(await child.exit()).toEqual(CLEAN);
    expect(child.impure).toEqual([]);
    expect(child.messages.map(textOf)).toEqual(['printed', 'printed']);
    const doors = ['log', 'info', 'table', 'write', 'bytes', 'console', 'callback', 'later', 'greeting'];
    for (const door of doors) expect(child.stderr).toContain(door === 'table' ? "'table'" : `stray ${door}`);
  });

  it('stays pure to the very end, also when the server says goodbye', async () => {
    for (const how of ['end of input', 'close()'] as const) {
      const child = startChild(fixture('server-that-prints.mjs'));
      child.send(call(1, how === 'close()' ? 'close' : 'hello'));
      await child.answer(1);
      if (how === 'end of input') child.end();
      expect(await child.exit()).toEqual(CLEAN);
      expect(child.stderr).toContain('stray goodbye');
      expect(child.impure).toEqual([]);
      expect(child.messages).toHaveLength(1);
    }
  });

  it('to a closed stderr does not hurt: stray prints are lost, calls are answered', async () => {
    const child = startChild(fixture('server-that-prints.mjs'));
    child.send(call(1, 'hello'));
    await child.answer(1);
    child.stderrStream.destroy();
    child.send(call(2, 'print'));
    await child.answer(2);
    child.send(call(3, 'print'));
    await child.answer(3);
    child.send(call(4, 'hello'));
    await child.answer(4);
    child.end();
    expect(await child.exit()).toEqual(CLEAN);
    expect(child.impure).toEqual([]);
  });

  it('that nobody takes any more (EPIPE) ends the server quietly', async () => {
    const demo = startDemo();
    demo.send(call(1, 'echo', { text: 'x' }));
    await demo.answer(1);
    demo.stdout.destroy();
    demo.send(call(2, 'big', { bytes: MIB }), call(3, 'big', { bytes: MIB }));
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.stderr).toBe('');
  });

  it('that nobody takes any more ends a server at the end of input with calls running, quietly', async () => {
    const demo = startDemo();
    demo.send(call(1, 'sleep', { ms: 300 }));
    demo.stdout.destroy();
    demo.end();
    expect(await demo.exit()).toEqual(CLEAN);
    expect(demo.stderr).toBe('');
  });

  it.skipIf(process.platform === 'win32')('into `head -1` ends the server quietly', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'isthmus-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const requests = Array.from({ length: 200 }, (_, id) => line(call(id, 'big', { bytes: 65_536 })));
    writeFileSync(join(dir, 'in'), requests.join(''));
    const script = `("${process.execPath}" "${ISTHMUS}" demo < "${join(dir, 'in')}" 2>"${join(dir, 'err')}"; echo $? > "${join(dir, 'code')}") | head -c 100 > /dev/null; wait`;
    await exitCode(['-c', script], ['ignore', 'inherit', 'inherit'], '/bin/sh');
    expect(readFileSync(join(dir, 'code'), 'utf8').trim()).toBe('0');
    expect(readFileSync(join(dir, 'err'), 'utf8')).toBe('');
  });

  it.skipIf(!onLinux)('to a full disk ends the server, it does not hang', async () => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const code = await exitCode(
      [ISTHMUS, 'demo'],
      ['pipe', full, 'pipe'],
      process.execPath,
      line(call(1, 'echo', { text: 'x' })),
    );
    expect(code).toBe(0);
  });
});

describe('the official SDK’s other weaknesses on a stream', () => {
  it('are absent: the version is checked on every request, not only on the first', async () => {
    const demo = startDemo();
    demo.send(call(1, 'echo', { text: 'x' }));
    const later = {
      name: 'echo',
      arguments: { text: 'x' },
      _meta: { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
    };
    demo.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: later });
    demo.send(call(3, 'echo', { text: 'still modern' }));
    expect((await demo.answer(2)).error).toMatchObject({
      code: -32022,
      data: { supported: ['2026-07-28'], requested: '2099-01-01' },
    });
    expect(textOf(await demo.answer(3))).toBe('still modern');
  });

  it('are absent: a stray notification or ping does not choose the era', async () => {
    const demo = startDemo();
    demo.send({ jsonrpc: '2.0', method: 'notifications/foo' }, { jsonrpc: '2.0', id: 1, method: 'ping' });
    demo.send(legacyCall(2, 'echo', { text: 'x' }));
    demo.send(request(3, 'server/discover'));
    expect((await demo.answer(1)).result).toEqual({});
    expect((await demo.answer(2)).error?.code).toBe(-32602);
    expect((await demo.answer(3)).result.supportedVersions).toEqual(['2026-07-28']);
  });

  it('are absent: a modern request on a legacy connection is refused, and the other way round', async () => {
    const legacy = startDemo();
    legacy.send(initialize(1), call(2, 'echo', { text: 'x' }), legacyCall(3, 'echo', { text: 'fine' }));
    expect((await legacy.answer(2)).error?.code).toBe(-32600);
    expect(textOf(await legacy.answer(3))).toBe('fine');
    const modern = startDemo();
    modern.send(call(1, 'echo', { text: 'x' }), initialize(2), call(3, 'echo', { text: 'fine' }));
    expect((await modern.answer(2)).error).toMatchObject({
      code: -32022,
      data: { supported: ['2026-07-28'] },
    });
    expect(textOf(await modern.answer(3))).toBe('fine');
  });

  it('are absent: a failed probe leaves the handshake available', async () => {
    const demo = startDemo();
    const badProbe = {
      jsonrpc: '2.0',
      id: 1,
      method: 'server/discover',
      params: {
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2099-01-01',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    };
    demo.send(badProbe, { jsonrpc: '2.0', id: 2, method: 'server/discover' }, initialize(3));
    expect((await demo.answer(1)).error?.code).toBe(-32022);
    expect((await demo.answer(2)).error?.code).toBe(-32602);
    expect((await demo.answer(3)).result.protocolVersion).toBe('2025-11-25');
  });

  it('are absent: a second request with an id in flight is refused, and the first can still be cancelled', async () => {
    const demo = startDemo();
    demo.send(call(1, 'sleep', { ms: 60_000 }), call(1, 'echo', { text: 'x' }));
    await demo.until('refusal', () => demo.messages.length === 1);
    expect(demo.messages[0]).toMatchObject({ id: 1, error: { code: -32600 } });
    demo.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    demo.send(call(2, 'echo', { text: 'x' }));
    demo.end();
    // The grace is 10 s: if the call still ran, it would be waited for and answered with an error.
    expect(await demo.exit(8000)).toEqual(CLEAN);
    expect(demo.messages.map(({ id }) => id)).toEqual([1, 2]);
  });

  it('are absent: nothing is sent for a request once it is cancelled', async () => {
    const demo = startDemo();
    const params = { name: 'sleep', arguments: { ms: 60_000 }, _meta: { ...ENVELOPE, progressToken: 'p' } };
    demo.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    await demo.until('progress', () => demo.messages.length >= 2);
    demo.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    demo.send(call(2, 'echo', { text: 'mark' }));
    await demo.answer(2);
    const upTo = demo.messages.length;
    demo.send(call(3, 'sleep', { ms: 300 }));
    await demo.answer(3);
    expect(demo.messages.slice(upTo).map(({ id }) => id)).toEqual([3]);
    expect(demo.messages.some(({ id }) => id === 1)).toBe(false);
  });

  it('are absent: progress of a legacy call ends with its cancellation, too', async () => {
    const demo = startDemo();
    demo.send(initialize(0));
    const params = { name: 'sleep', arguments: { ms: 60_000 }, _meta: { progressToken: 7 } };
    demo.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    await demo.until('progress', () => demo.messages.length >= 3);
    demo.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    demo.send(legacyCall(2, 'echo', { text: 'mark' }));
    await demo.answer(2);
    const upTo = demo.messages.length;
    demo.send(legacyCall(3, 'sleep', { ms: 300 }));
    await demo.answer(3);
    expect(demo.messages.slice(upTo).map(({ id }) => id)).toEqual([3]);
    expect(demo.messages.some(({ id }) => id === 1)).toBe(false);
  });
});

/** Everything that can stand on a line and is no message, and what it is owed. */
const BAD_LINES: readonly { what: string; bad: string | Buffer; code: number; id?: string | number }[] = [
  { what: 'text', bad: 'hello, server', code: -32700 },
  {
    what: 'Infinity, as language models write it',
    bad: '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"price":Infinity}}}',
    code: -32700,
    id: 7,
  },
  { what: 'half a message', bad: '{"jsonrpc":"2.0","id":"half","method":"pi', code: -32700, id: 'half' },
  { what: 'a trailing comma', bad: '{"jsonrpc":"2.0","id":8,"method":"ping",}', code: -32700, id: 8 },
  { what: 'single quotes', bad: "{'jsonrpc':'2.0','id':8,'method':'ping'}", code: -32700 },
  {
    what: 'invalid UTF-8',
    bad: Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}}'),
    ]),
    code: -32700,
    id: 9,
  },
  { what: 'an encoded surrogate', bad: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), code: -32700 },
  { what: 'a NUL byte', bad: Buffer.from([0]), code: -32700 },
  {
    what: 'a byte order mark in the middle',
    bad: '\uFEFF{"jsonrpc":"2.0","method":"ping"}',
    code: -32700,
  },
  { what: 'a string', bad: '"ping"', code: -32600 },
  { what: 'a number', bad: '42', code: -32600 },
  { what: 'null', bad: 'null', code: -32600 },
  { what: 'an empty object', bad: '{}', code: -32600 },
  { what: 'an empty batch', bad: '[]', code: -32600 },
  { what: 'a batch where there are none', bad: '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', code: -32600 },
  { what: 'a null id', bad: '{"jsonrpc":"2.0","id":null,"method":"ping"}', code: -32600 },
  { what: 'a float id', bad: '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', code: -32600 },
  { what: 'an id above 2^53', bad: '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', code: -32600 },
  { what: 'an object as id', bad: '{"jsonrpc":"2.0","id":{},"method":"ping"}', code: -32600 },
  {
    what: 'array params',
    bad: '{"jsonrpc":"2.0","id":10,"method":"ping","params":[1]}',
    code: -32600,
    id: 10,
  },
  {
    what: 'null params',
    bad: '{"jsonrpc":"2.0","id":15,"method":"ping","params":null}',
    code: -32600,
    id: 15,
  },
  { what: 'no version', bad: '{"id":11,"method":"ping"}', code: -32600, id: 11 },
  { what: 'version 1.0', bad: '{"jsonrpc":"1.0","id":"","method":"ping"}', code: -32600, id: '' },
  { what: 'a method that is a number', bad: '{"jsonrpc":"2.0","id":0,"method":1}', code: -32600, id: 0 },
  { what: 'an id and no method', bad: '{"jsonrpc":"2.0","id":-14}', code: -32600, id: -14 },
];

/** Writes the parts so that each arrives in a read of its own. */
async function writeApart(child: Child, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    child.write(part);
    // Not a hope: if two parts arrive together all the same, the test only shows less.
    await sleep(20);
  }
}

async function* slowly(child: Child): AsyncGenerator<string> {
  for await (const chunk of child.stdout) {
    yield String(chunk);
    await sleep(100);
  }
}

/** Runs a program to its end and says how it ended. */
function exitCode(
  args: readonly string[],
  stdio: ('pipe' | 'ignore' | 'inherit' | number)[],
  command: string = process.execPath,
  input = '',
): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdin?.end(input);
    child.on('error', reject);
    child.on('exit', (code) => resolve(code));
  });
}
