import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createLog, type LogOptions } from '../../src/telemetry/log.js';

function written(options: Partial<LogOptions> & { isTTY?: boolean } = {}) {
  const lines: string[] = [];
  const { isTTY = false, ...rest } = options;
  const destination = { isTTY, write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'debug', format: 'json', env: {}, destination, ...rest });
  return { log, lines };
}

describe('a log for programs', () => {
  it('is one line of JSON for each thing, with its level as a word and its time', () => {
    const { log, lines } = written();
    log.info({ server: 'weather', pid: 4711, generation: 2, caller: 'alice' }, 'is ready');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    const { time, ...rest } = JSON.parse(lines[0]!);
    expect(rest).toEqual({
      level: 'info',
      server: 'weather',
      pid: 4711,
      generation: 2,
      caller: 'alice',
      msg: 'is ready',
    });
    expect(time).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  });

  it('says nothing below its level', () => {
    const { log, lines } = written({ level: 'warn' });
    log.info('no');
    log.warn('yes');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['yes']);
  });

  it('shows no secret, wherever it stands: message, field, child logger or error', () => {
    const { log, lines } = written({ secrets: ['hunter2000'] });
    log.child({ env: 'A=hunter2000' }).error({ err: new Error('hunter2000 was wrong') }, 'tried hunter2000');
    log.info({ headers: { authorization: 'Bearer abc' } }, 'https://a:b@example.com/?token=c');
    expect(lines.join('')).not.toMatch(/hunter2000|abc|a:b|token=c/);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      env: 'A=[redacted]',
      err: { type: 'Error', message: '[redacted] was wrong' },
      msg: 'tried [redacted]',
    });
    expect(JSON.parse(lines[1]!)).toMatchObject({
      headers: { authorization: '[redacted]' },
      msg: 'https://[redacted]@example.com/?token=[redacted]',
    });
  });
});

describe('a log for people', () => {
  const TIME = /^\[\d{2}:\d{2}:\d{2}\.\d{3}\] /;

  it('is one line for each thing, which begins with the server and its process', () => {
    const { log, lines } = written({ format: 'pretty' });
    log.info({ server: 'weather', pid: 4711, generation: 2 }, 'is ready');
    log.warn({ server: 'weather' }, 'waits');
    log.debug('plain');
    expect(lines.every((line) => TIME.test(line))).toBe(true);
    expect(lines.map((line) => line.replace(TIME, ''))).toEqual([
      'INFO: weather[4711]: is ready {"generation":2}\n',
      'WARN: weather: waits\n',
      'DEBUG: plain\n',
    ]);
  });

  it('stays one line, and leaves the terminal alone, whatever others wrote', () => {
    const { log, lines } = written({ format: 'pretty' });
    log.error({ server: 'a\nb', err: new Error('x\n\u001b[31my') }, 'one\r\ntwo\u001b]0;title\u0007\u009b1m');
    expect(lines.map((line) => line.replace(TIME, ''))).toEqual(['ERROR: a b: one two (x y)\n']);
  });

  it('shows no secret either', () => {
    const { log, lines } = written({ format: 'pretty', secrets: ['hunter2000'] });
    log.info({ cookie: 'a=1', note: 'hunter2000' }, 'Bearer abc');
    expect(lines.map((line) => line.replace(TIME, ''))).toEqual([
      'INFO: Bearer [redacted] {"cookie":"[redacted]","note":"[redacted]"}\n',
    ]);
  });

  it.each([
    ['a terminal', true, {}, true],
    ['a file', false, {}, false],
    ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['a terminal with an empty NO_COLOR', true, { NO_COLOR: '' }, true],
    ['a dumb terminal', true, { TERM: 'dumb' }, false],
    ['a file with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
    ['a file with NO_COLOR and FORCE_COLOR', false, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ])('on %s', (_, isTTY, env, colourful) => {
    const { log, lines } = written({ format: 'pretty', isTTY, env });
    log.info('x');
    expect(lines[0]!.includes('\u001b[')).toBe(colourful);
  });
});

describe('a log without a destination', () => {
  it('goes to stderr at once, so that the last lines are not lost, and nothing to stdout', async () => {
    const program = `
      import { createLog } from ${JSON.stringify(new URL('../../dist/telemetry/log.js', import.meta.url).href)};
      createLog({ level: 'info', format: 'pretty' }).info({ server: 'weather' }, 'last words');
      createLog({ level: 'info', format: 'json' }).info({ server: 'weather' }, 'last words');
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 20_000,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (bytes) => {
      stdout += bytes;
    });
    child.stderr.on('data', (bytes) => {
      stderr += bytes;
    });
    await new Promise((resolve) => child.on('close', resolve));
    const [pretty, json] = stderr.split('\n');
    expect(pretty).toMatch(/^\[.*\] INFO: weather: last words$/);
    expect(JSON.parse(json!)).toMatchObject({ level: 'info', server: 'weather', msg: 'last words' });
    expect(stdout).toBe('');
  });
});
