import { describe, expect, it } from 'vitest';
import { http } from '../../../../src/transport/http.js';
import {
  ask,
  initialize,
  legacy,
  modern,
  modernCall,
  openSession,
  plainServer,
  rawSocket,
  serveHttp,
} from '../../../support/http-server.js';

const discover = (headers: Record<string, string | undefined>) =>
  modern(1, 'server/discover', {}, { headers });

describe('DNS rebinding', () => {
  it.each([
    'https://evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://evil.example:80',
    'https://evil.example/localhost',
    'null',
    'file://',
    'chrome-extension://abcdef',
    'http://localhost, https://evil.example',
    'http://user@localhost@evil.example',
    '',
  ])('refuses a page of %j with 403 whatever it does (HTTP-003)', async (origin) => {
    const { url } = await serveHttp(plainServer(), { sse: true });
    const session = await openSession(url);
    for (const given of [
      discover({ origin }),
      legacy(initialize(1), { origin }),
      legacy({ jsonrpc: '2.0', id: 1, method: 'ping' }, { ...session.headers, origin }),
      { method: 'GET', headers: { accept: 'text/event-stream', ...session.headers, origin } },
      { method: 'DELETE', headers: { ...session.headers, origin } },
      { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } },
    ]) {
      const { status, headers, json } = await ask(url, given);
      expect(status).toBe(403);
      expect(json).not.toHaveProperty('id');
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    const sse = await ask(new URL('/sse', url).href, { method: 'GET', headers: { origin } });
    expect(sse.status).toBe(403);
    // Nothing was touched: the session lives.
    expect((await session.post({ jsonrpc: '2.0', id: 2, method: 'ping' })).status).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.2',
    '',
  ])('refuses to be asked for as %j on a loopback address (HTTP-002)', async (host) => {
    const { port } = await serveHttp(plainServer());
    const socket = await rawSocket(port);
    const { body, headers } = discover({});
    const lines = Object.entries(headers!).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${lines.join('')}` +
        `content-length: ${Buffer.byteLength(body!)}\r\n\r\n${String(body)}`,
    );
    await socket.closed;
    expect(socket.status).toBe(403);
  });

  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '[::1]', 'localhost:1234'])(
    'answers to %s on a loopback address, to pages of loopback names too',
    async (host) => {
      const { url } = await serveHttp(plainServer());
      expect((await ask(url, discover({ host }))).status).toBe(200);
      expect((await ask(url, discover({ host, origin: `http://${host.toLowerCase()}` }))).status).toBe(200);
      expect((await ask(url, discover({ host, origin: 'http://localhost:3000' }))).status).toBe(200);
    },
  );

  it('keeps to the hosts and origins it was given', async () => {
    const { url } = await serveHttp(plainServer(), {
      allowedHosts: ['mcp.example', 'other.example:8443'],
      allowedOrigins: ['https://App.example'],
    });
    const status = async (host: string, origin?: string) =>
      (await ask(url, discover({ host, ...(origin !== undefined && { origin }) }))).status;
    expect(await status('mcp.example')).toBe(200);
    expect(await status('mcp.example:9999')).toBe(200);
    expect(await status('MCP.example')).toBe(200);
    expect(await status('other.example:8443')).toBe(200);
    expect(await status('other.example:8444')).toBe(403);
    expect(await status('localhost')).toBe(403);
    expect(await status('mcp.example', 'https://app.example')).toBe(200);
    expect(await status('mcp.example', 'http://app.example')).toBe(403);
    expect(await status('mcp.example', 'https://mcp.example')).toBe(403);
  });

  it('does not run a tool for a page that it refuses', async () => {
    let runs = 0;
    const server = plainServer();
    server.tool('count', {}, () => {
      runs += 1;
      return String(runs);
    });
    const { url } = await serveHttp(server);
    await ask(url, modernCall(1, 'count', {}, { headers: { origin: 'https://evil.example' } }));
    expect(runs).toBe(0);
    await ask(url, modernCall(1, 'count'));
    expect(runs).toBe(1);
  });
});

describe('CORS', () => {
  const preflight = (origin: string) => ({
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,mcp-protocol-version,mcp-method,mcp-name',
    },
  });

  it('is off unless configured: no header, and no preflight', async () => {
    const { url } = await serveHttp(plainServer());
    const answer = await ask(url, discover({ origin: 'http://localhost:3000' }));
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    const refused = await ask(url, preflight('http://localhost:3000'));
    expect([refused.status, refused.headers.allow]).toEqual([405, 'POST, GET, DELETE']);
    expect(Object.keys(refused.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('answers the preflight of a configured page without asking who it is', async () => {
    let asked = 0;
    const { url } = await serveHttp(plainServer(), {
      cors: { origins: ['https://app.example'], headers: ['X-Trace'] },
      authenticate: () => {
        asked += 1;
        return undefined;
      },
    });
    const { status, headers, text } = await ask(url, preflight('https://app.example'));
    expect([status, text, asked]).toEqual([204, '', 0]);
    expect(headers['access-control-allow-origin']).toBe('https://app.example');
    expect(headers.vary).toBe('Origin');
    expect(headers['access-control-allow-methods']!.split(', ').sort()).toEqual(['DELETE', 'GET', 'POST']);
    const allowed = headers['access-control-allow-headers']!.toLowerCase().split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining([
        'content-type',
        'accept',
        'authorization',
        'mcp-protocol-version',
        'mcp-method',
        'mcp-name',
        'mcp-session-id',
        'last-event-id',
        'x-trace',
      ]),
    );
  });

  it('lets a configured page read answers, refusals and the session id', async () => {
    const { url } = await serveHttp(plainServer(), {
      cors: { origins: ['https://app.example'] },
      authenticate: (request) => request.header('authorization'),
    });
    const origin = 'https://app.example';
    const answers = [
      await ask(url, discover({ origin, authorization: 'ada' })),
      await ask(url, discover({ origin })),
      await ask(url, discover({ origin, authorization: 'ada', 'mcp-method': 'other' })),
      await ask(url, legacy(initialize(1), { origin, authorization: 'ada' })),
      await ask(
        url,
        modernCall(1, 'steps', {}, { meta: { progressToken: 1 }, headers: { origin, authorization: 'ada' } }),
      ),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 400, 200, 200]);
    for (const { headers } of answers) {
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['access-control-expose-headers']!.toLowerCase()).toContain('mcp-session-id');
      expect(headers['access-control-expose-headers']!.toLowerCase()).toContain('www-authenticate');
      expect(headers.vary).toBe('Origin');
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  it('refuses the preflight and the call of a page that is not configured', async () => {
    const { url } = await serveHttp(plainServer(), { cors: { origins: ['https://app.example'] } });
    for (const given of [preflight('https://evil.example'), discover({ origin: 'https://evil.example' })]) {
      const { status, headers } = await ask(url, given);
      expect(status).toBe(403);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  it('may be open to all, still only under its own names', async () => {
    const { url } = await serveHttp(plainServer(), { cors: { origins: '*' } });
    const answer = await ask(url, discover({ origin: 'https://anywhere.example' }));
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, '*']);
    const rebound = await ask(
      url,
      discover({ origin: 'https://anywhere.example', host: 'anywhere.example' }),
    );
    expect(rebound.status).toBe(403);
  });

  it('lets pages send the headers of tool arguments, whose names only the tools know (HTTP-047)', async () => {
    const { url } = await serveHttp(plainServer(), { cors: { origins: ['https://app.example'] } });
    const { headers } = await ask(url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,mcp-method,mcp-param-region',
      },
    });
    expect(headers['access-control-allow-headers']!.toLowerCase()).toContain('mcp-param-region');
  });
});

describe('the size of a request', () => {
  it('refuses a body over the limit with 413, by its announced length and by its real one', async () => {
    const { url, port } = await serveHttp(plainServer(), { maxBodyBytes: 2000 });
    const big = modernCall(1, 'echo', { text: 'x'.repeat(3000) });
    const announced = await ask(url, big);
    expect(announced.status).toBe(413);
    expect(announced.json).toEqual({
      jsonrpc: '2.0',
      error: { code: -32600, message: 'The body is longer than 2000 bytes' },
    });
    const socket = await rawSocket(port);
    const lines = Object.entries(big.headers!).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}Transfer-Encoding: chunked\r\n\r\n`,
    );
    socket.write(`5dc\r\n${'x'.repeat(1500)}\r\n5dc\r\n${'x'.repeat(1500)}\r\n`);
    await socket.until('answer', () => socket.status !== undefined);
    expect(socket.status).toBe(413);
    // The rest of the body must not be taken for a request.
    await socket.closed;
    expect(socket.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('takes a body of exactly the limit', async () => {
    const limit = 2000;
    const { url } = await serveHttp(plainServer(), { maxBodyBytes: limit });
    const room = limit - Buffer.byteLength(modernCall(1, 'echo', { text: '' }).body!);
    const fits = modernCall(1, 'echo', { text: 'x'.repeat(room) });
    expect(Buffer.byteLength(fits.body!)).toBe(limit);
    expect((await ask(url, fits)).status).toBe(200);
    expect((await ask(url, modernCall(1, 'echo', { text: 'x'.repeat(room + 1) }))).status).toBe(413);
  });

  it('gives the 413 to a client that sends 20 MB without waiting', async () => {
    const { url } = await serveHttp(plainServer());
    const { status } = await ask(url, modernCall(1, 'echo', { text: 'x'.repeat(20 * 1024 * 1024) }));
    expect(status).toBe(413);
  });

  it('refuses longer headers with 431', async () => {
    const { url } = await serveHttp(plainServer(), { maxHeaderBytes: 4096 });
    expect((await ask(url, discover({ 'x-long': 'x'.repeat(3000) }))).status).toBe(200);
    expect((await ask(url, discover({ 'x-long': 'x'.repeat(5000) }))).status).toBe(431);
    const { url: usual } = await serveHttp(plainServer());
    expect((await ask(usual, discover({ 'x-long': 'x'.repeat(20_000) }))).status).toBe(431);
  });
});

describe('what a POST must look like', () => {
  it.each([
    undefined,
    '',
    'text/plain',
    'application/jsonp',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
  ])('refuses the content type %j with 415', async (type) => {
    const { url } = await serveHttp(plainServer());
    const { status, json } = await ask(url, discover({ 'content-type': type }));
    expect([status, json.error?.code]).toEqual([415, -32600]);
  });

  it.each(['application/json', 'text/event-stream', 'text/html', 'application/json;q=1, text/html'])(
    'refuses a client that accepts only %s with 406',
    async (accept) => {
      const { url } = await serveHttp(plainServer());
      expect((await ask(url, discover({ accept }))).status).toBe(406);
    },
  );

  it.each([
    'text/event-stream,application/json',
    'application/json;q=0.9, text/event-stream;q=0.1',
    'APPLICATION/JSON, TEXT/EVENT-STREAM',
    'application/*, text/*',
    undefined,
  ])('takes Accept: %s', async (accept) => {
    const { url } = await serveHttp(plainServer());
    expect((await ask(url, discover({ accept }))).status).toBe(200);
  });

  it.each(['PUT', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'])('has no %s and says what it has', async (method) => {
    const { url } = await serveHttp(plainServer());
    const { status, headers } = await ask(url, { method });
    expect([status, headers.allow]).toEqual([405, 'POST, GET, DELETE']);
  });
});

describe('invalid options', () => {
  it.each([
    [{ port: 65_536 }, /port/],
    [{ port: -1 }, /port/],
    [{ path: 'mcp' }, /path/],
    [{ maxBodyBytes: 0 }, /maxBodyBytes/],
    [{ keepAliveMs: -1 }, /keepAliveMs/],
    [{ maxSessions: 1.5 }, /maxSessions/],
    [{ legacy: 'sometimes' as 'stateless' }, /legacy/],
    [{ sse: { path: 'sse', messagePath: '/message' } }, /path/],
  ])('%j is refused before anything listens', (options, message) => {
    expect(() => http(options)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(message) }),
    );
  });

  it('an address in use is named', async () => {
    const { port } = await serveHttp(plainServer());
    await expect(serveHttp(plainServer(), { port })).rejects.toMatchObject({
      code: 'ADDRESS_UNAVAILABLE',
      message: `Cannot listen on http://127.0.0.1:${port}: the port is in use`,
    });
  });

  it('a short limit for a whole request shortens that for its headers', async () => {
    const { url } = await serveHttp(plainServer(), { requestTimeoutMs: 5000 });
    expect((await ask(url, discover({}))).status).toBe(200);
  });
});
