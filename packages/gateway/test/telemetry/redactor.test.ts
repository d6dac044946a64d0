import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/telemetry/redactor.js';

describe('text without what looks like a secret', () => {
  it.each([
    ['Bearer xyz', 'Bearer [redacted]'],
    ['sent bearer abc.def-ghi_jkl~mno+p/q== to it', 'sent bearer [redacted] to it'],
    ['Basic dXNlcjpwYXNz failed', 'Basic [redacted] failed'],
    ['Authorization: Bearer abc', 'Authorization: [redacted]'],
    ['authorization=Digest username="bob"', 'authorization=[redacted]"bob"'],
    ['x-api-key: 12345', 'x-api-key: [redacted]'],
    ['Cookie: a=1; b=2', 'Cookie: [redacted]'],
    ['Set-Cookie: sid=42; HttpOnly', 'Set-Cookie: [redacted]'],
    ['Proxy-Authorization: Basic eA==', 'Proxy-Authorization: [redacted]'],
    ['{"x-api-key":"12345","accept":"*/*"}', '{"x-api-key":"[redacted]","accept":"*/*"}'],
    ['key sk-proj-abcDEF123456 is used', 'key [redacted] is used'],
    ['sk_live_51H8abcdefgh', '[redacted]'],
    ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', '[redacted]'],
    ['github_pat_11ABCDEFG0abcdefghijkl', '[redacted]'],
    ['glpat-abcdefghij1234567890', '[redacted]'],
    ['xoxb-1234567890-abcdefghij', '[redacted]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['AIzaSyA1234567890abcdefghijklmnopqrstuv', '[redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def', '[redacted]'],
    ['postgres://bob:hunter2@db.example/x', 'postgres://[redacted]@db.example/x'],
    ['https://bob:p@ss@example.com/', 'https://[redacted]@example.com/'],
    ['GET /mcp?token=abc&x=1', 'GET /mcp?token=[redacted]&x=1'],
    ['GET /mcp?x=1&api_key=abc#top', 'GET /mcp?x=1&api_key=[redacted]#top'],
    ['GET /cb?code=abc&state=def', 'GET /cb?code=[redacted]&state=[redacted]'],
    ['WEATHER_API_KEY=abc npx weather', 'WEATHER_API_KEY=[redacted] npx weather'],
    ['--client-secret=abc', '--client-secret=[redacted]'],
    ['{ "db": { "dbPassword": "abc" } }', '{ "db": { "dbPassword": "[redacted]" } }'],
    ["password='abc def'", "password='[redacted] def'"],
  ])('%s', (text, expected) => {
    expect(createRedactor().text(text)).toBe(expected);
  });

  it.each([
    'missing API key: set WEATHER_API_KEY',
    'basic understanding of the token bucket',
    'task-scheduler-with-a-long-name is ready',
    'weather stopped with code 1 after 212 ms; last stderr: "no such file"',
    'http://127.0.0.1:8080/mcp?x=1',
    'mail bob@example.com about https://example.com/@bob',
    'progressToken 7, sk-7',
    '{"_meta":{"progressToken":"t-1"},"password":7}',
    'a keyboard = a board of keys',
  ])('leaves alone: %s', (text) => {
    expect(createRedactor().text(text)).toBe(text);
  });

  it('is found in time that grows with the text, not with its square', () => {
    const { text } = createRedactor(['a-secret-value']);
    const began = process.cpuUsage();
    for (const piece of ['a-', 'token', 'x://', 'Bearer ', 'sk-', 'basic a', 'eyJ.', '"', 'cookie', '=']) {
      text(piece.repeat(100_000));
    }
    // What other processes do on a busy machine takes none of this time.
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(2000);
  });
});

describe('known secrets', () => {
  it('are replaced inside any text, as they are, in a URL and in JSON', () => {
    const { text } = createRedactor(['pass "word"/1']);
    expect(text('it is pass "word"/1!')).toBe('it is [redacted]!');
    expect(text('/x/pass%20%22word%22%2F1/y')).toBe('/x/[redacted]/y');
    expect(text('{"a":"pass \\"word\\"/1"}')).toBe('{"a":"[redacted]"}');
  });

  it('are replaced entirely where one is the beginning of another', () => {
    expect(createRedactor(['hunter', 'hunter2000']).text('hunter2000 hunter')).toBe('[redacted] [redacted]');
  });

  it('are no patterns', () => {
    expect(createRedactor(['a.c+d$']).text('abcd a.c+d$')).toBe('abcd [redacted]');
  });

  it('can be learned later', () => {
    const redactor = createRedactor();
    expect(redactor.text('opensesame')).toBe('opensesame');
    redactor.add(['opensesame']);
    expect(redactor.text('opensesame')).toBe('[redacted]');
  });

  it('are not replaced when they are so short that they are everywhere', () => {
    expect(createRedactor(['1', 'on', 'yes', '  a ', '']).text('yes, 1 is on')).toBe('yes, 1 is on');
  });
});

describe('a line of JSON', () => {
  const json = (value: unknown, secrets: string[] = []) =>
    JSON.parse(createRedactor(secrets).json(JSON.stringify(value)));

  it('loses the values of headers and options that are secrets, at any depth and in lists', () => {
    const line = {
      headers: { Authorization: 'a', 'x-api-key': 'b', 'set-cookie': ['c', 'd'], accept: ['e', 'f'] },
      deep: [{ env: { WEATHER_API_KEY: 'g', HOME: '/home/x' } }, { apiKey: 'h', password: '', token: 'i' }],
      after: 'j',
    };
    expect(json(line)).toEqual({
      headers: {
        Authorization: '[redacted]',
        'x-api-key': '[redacted]',
        'set-cookie': ['[redacted]', '[redacted]'],
        accept: ['e', 'f'],
      },
      deep: [
        { env: { WEATHER_API_KEY: '[redacted]', HOME: '/home/x' } },
        { apiKey: '[redacted]', password: '[redacted]', token: '[redacted]' },
      ],
      after: 'j',
    });
  });

  it('keeps what has no name of a secret, what only sounds like one, and values that tell nothing', () => {
    const line = { progressToken: 't', tokens: 5, cookie: null, n: 1, ok: true, none: [], monkey: 'm' };
    expect(json(line)).toEqual(line);
  });

  it('stays JSON whatever the secret and the text are', () => {
    expect(json({ msg: 'say "a\\b\n" or {"password":"x"}' }, ['a\\b\n"'])).toEqual({
      msg: 'say "[redacted] or {"password":"[redacted]"}',
    });
    expect(json({ msg: '\u0000"\\', more: 'Bearer "quoted"' })).toEqual({
      msg: '\u0000"\\',
      more: 'Bearer "quoted"',
    });
  });

  it('keeps the names of our own fields, even when a secret is the same', () => {
    expect(json({ server: 'weather', level: 'info', msg: 'server' }, ['server', 'level'])).toEqual({
      server: 'weather',
      level: 'info',
      msg: '[redacted]',
    });
  });

  it('loses secrets that are used as long names', () => {
    expect(json({ 'sk-abcdefghijklmnop': 1 })).toEqual({ '[redacted]': 1 });
  });
});
