import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createTranscript } from '@isthmus/check/internal/wire/transcript.js';
import { createLog } from '@isthmus/gateway/internal/telemetry/log.js';
import { connect } from '@isthmus/sdk/client';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { memoryPair } from '@isthmus/sdk/internal/transport/memory.js';
import { printable } from 'isthmus/internal/terminal/text.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cpuMsOf } from '../support/cpu-time.js';

const BIN = fileURLToPath(new URL('../../bin/isthmus.js', import.meta.url));
const FLOODS = fileURLToPath(new URL('../programs/server-floods-stdout.mjs', import.meta.url));

describe('S11: a server that floods', () => {
  it.skipIf(process.platform !== 'linux')(
    'leaves check an ear for signals, and it says what it has seen',
    async () => {
      const args = [BIN, 'check', '--', process.execPath, FLOODS];
      const check = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      onTestFinished(() => void check.kill('SIGKILL'));
      let said = '';
      check.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      check.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      const exited = once(check, 'exit');
      const children = `/proc/${check.pid}/task/${check.pid}/children`;
      await expect.poll(() => readFileSync(children, 'utf8').trim()).not.toBe('');
      check.kill('SIGINT');
      expect(await exited).toEqual([130, null]);
      expect(said).toContain('Interrupted');
    },
  );

  it('fills a transcript of the referee up to its bound, and what is waited for still arrives', async () => {
    const transcript = createTranscript('stdio', systemClock);
    const noise = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}';
    const waiting = transcript.waitFor(({ id }) => id === 7, 10_000);
    for (let sent = 0; sent < 60_000; sent += 1) transcript.add('server', noise);
    const answer = transcript.add('server', '{"jsonrpc":"2.0","id":7,"result":{}}');
    expect(await waiting).toBe(answer);
    expect(transcript.frames.length).toBeLessThan(6000);
    expect(transcript.frames.at(-1)).toBe(answer);
    expect(transcript.lines.filter(({ from }) => from === 'note')).toHaveLength(1);
  });

  it('with pages without end fails the list after 2,000 of them', async () => {
    let pages = 0;
    const client = await connect({
      label: 'endless',
      identity: undefined,
      connect: () => endless(() => (pages += 1)),
    });
    await expect(client.listTools()).rejects.toMatchObject({
      code: 'INVALID_RESULT',
      message:
        'tools/list did not end after 2000 pages or 100000 items. ' +
        "To read single pages, call request('tools/list', { cursor })",
    });
    expect(pages).toBe(2001);
    await client.close();
  });
});

describe('S11: text of a server', () => {
  const BIDI = 'user\u202etxt.exe\u2066\u200f\u061c';

  it('cannot turn the direction of a log line or of the terminal', () => {
    const lines: string[] = [];
    const log = createLog({
      level: 'info',
      format: 'pretty',
      destination: { write: (line) => lines.push(line) },
      env: {},
    });
    log.info({ server: BIDI, field: BIDI }, BIDI);
    expect(lines.join('')).not.toMatch(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
    expect(printable(BIDI)).toBe('usertxt.exe');
  });

  it.each([
    ['escapes that do not end', '\u001b['],
    ['titles that do not end', '\u001b]0;'],
    ['parameters without a command', '\u001b[1;2;3'],
    ['control characters', '\u0007\u009b'],
  ])('of a mebibyte of %s takes less than a second to clean', (_, piece) => {
    const text = piece.repeat(Math.ceil((1 << 20) / piece.length));
    expect(cpuMsOf(() => printable(text))).toBeLessThan(1000);
  });
});

/** A legacy server in this process whose list of tools has a next page each time. */
function endless(count: () => number) {
  const [client, server] = memoryPair();
  server.open({
    receive(decoded) {
      if (decoded.kind !== 'request') return;
      const { id, method } = decoded;
      const answers: Record<string, object> = {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'endless', version: '1' },
        },
      };
      const result = method === 'tools/list' ? { tools: [], nextCursor: `page ${count()}` } : answers[method];
      server.send(
        result
          ? { jsonrpc: '2.0', id, result: result as never }
          : { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } },
      );
    },
    inputEnded: () => {},
    drained: () => {},
  });
  return client;
}
