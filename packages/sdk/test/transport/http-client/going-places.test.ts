import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../../../../../test/support/until.js';
import { http } from '../../../src/transport/http.js';
import { classifyRedirect, retryAfterMs } from '../../../src/transport/http-client/retrying-http.js';
import { DISCOVERED, FINE, faultServer, modernFaults } from '../../support/fault-server.js';
import { failure, open, textOf } from '../../support/http-client.js';

/** Redirects, authorization, proxies and other ways to the server. */

describe('a redirect', () => {
  it.each([307, 308])(
    'with %i within the origin is followed, with method, body and headers',
    async (status) => {
      const server = await faultServer(({ path, res, method, reply }) => {
        if (path === '/mcp') return res.writeHead(status, { location: '/there' }).end();
        return reply(method === 'server/discover' ? DISCOVERED : FINE);
      });
      const client = await open(server.url, { headers: { Authorization: 'Bearer 1' } });
      expect(textOf(await client.callTool('any'))).toBe('fine');
      const { verb, path, method, headers } = server.seen.at(-1)!;
      expect([verb, path, method, headers.authorization, headers['mcp-name']]).toEqual([
        'POST',
        '/there',
        'tools/call',
        'Bearer 1',
        'any',
      ]);
    },
  );

  it.each([301, 302, 303])('with %i would turn the POST into a GET and is refused', async (status) => {
    const server = await faultServer(({ res }) => res.writeHead(status, { location: '/there' }).end());
    expect(await failure(open(server.url))).toMatchObject({
      code: 'HTTP_STATUS',
      status,
      sent: 'no',
      message: expect.stringContaining(
        `a redirect to ${server.origin}/there that would change the request; use that URL instead`,
      ),
    });
  });

  it('elsewhere is refused, or followed without the headers of the caller', async () => {
    const other = await modernFaults({});
    const server = await faultServer(({ res }) => res.writeHead(307, { location: other.url }).end());
    const headers = { authorization: 'Bearer 1', 'X-Api-Key': 'secret' };
    expect(await failure(open(server.url, { headers }))).toMatchObject({
      status: 307,
      message: expect.stringContaining(`a redirect to another origin (${other.url}), which is not followed`),
    });
    expect(other.seen).toEqual([]);
    await open(server.url, { headers, allowCrossOriginRedirects: true });
    expect(server.seen[0]!.headers).toMatchObject({ authorization: 'Bearer 1', 'x-api-key': 'secret' });
    expect(other.seen[0]!.headers.authorization).toBeUndefined();
    expect(other.seen[0]!.headers['x-api-key']).toBeUndefined();
    expect(other.seen[0]!.headers['mcp-method']).toBe('server/discover');
  });

  it('in a circle ends', async () => {
    const server = await faultServer(({ res }) => res.writeHead(307, { location: '/mcp' }).end());
    expect(await failure(open(server.url, { maxRedirects: 3 }))).toMatchObject({ status: 307, sent: 'no' });
    expect(server.seen).toHaveLength(4);
  });

  it('to no place, or to no place for HTTP, is refused', () => {
    const facts = {
      status: 307,
      method: 'POST',
      from: new URL('http://a/b'),
      allowCrossOrigin: true,
      left: 1,
    };
    expect(classifyRedirect({ ...facts, location: undefined }).kind).toBe('refuse');
    expect(classifyRedirect({ ...facts, location: 'file:///etc/passwd' }).kind).toBe('refuse');
    expect(classifyRedirect({ ...facts, location: 'c?d', status: 302, method: 'GET' })).toMatchObject({
      kind: 'follow',
      url: new URL('http://a/c?d'),
      sameOrigin: true,
    });
  });
});

describe('authorization', () => {
  const guarded = (valid: string) =>
    faultServer(({ headers, method, reply, say }) => {
      if (headers.authorization === valid) return reply(method === 'server/discover' ? DISCOVERED : FINE);
      say(401, 'who are you?', { 'www-authenticate': 'Bearer resource_metadata="http://x/"' });
    });

  it('that is missing is an error with the challenge, and nothing is tried instead', async () => {
    const server = await guarded('Bearer 2');
    expect(await failure(open(server.url))).toEqual({
      name: 'IsthmusError',
      code: 'UNAUTHORIZED',
      message: `${server.url} answered with HTTP 401 Unauthorized: who are you? (WWW-Authenticate: Bearer resource_metadata="http://x/")`,
      sent: 'no',
      status: 401,
    });
    expect(server.methods()).toEqual(['server/discover']);
  });

  it('is renewed once for all who wait, and kept', async () => {
    let valid = 'Bearer 1';
    const server = await faultServer(({ headers, method, reply, say }) => {
      if (headers.authorization === valid) return reply(method === 'server/discover' ? DISCOVERED : FINE);
      say(401, '', { 'www-authenticate': 'Bearer' });
    });
    const onUnauthorized = vi.fn(async () => {
      // All of them have been refused before any of them is helped.
      await eventually(() => expect(server.seen.length).toBeGreaterThanOrEqual(5));
      return { authorization: valid };
    });
    const client = await open(server.url, { headers: { Authorization: 'Bearer 1' }, onUnauthorized });
    expect(onUnauthorized).not.toHaveBeenCalled();
    valid = 'Bearer 2';
    const calls = ['a', 'b', 'c', 'd'].map((name) => client.callTool(name));
    expect((await Promise.all(calls)).map(textOf)).toEqual(['fine', 'fine', 'fine', 'fine']);
    expect(onUnauthorized.mock.calls).toEqual([
      [{ url: server.url, status: 401, wwwAuthenticate: 'Bearer' }],
    ]);
    await client.callTool('e');
    expect(onUnauthorized).toHaveBeenCalledOnce();
  });

  it('that is refused again, or not renewed, is the error', async () => {
    const server = await guarded('Bearer 9');
    const again = vi.fn(() => ({ authorization: 'Bearer 8' }));
    expect(await failure(open(server.url, { onUnauthorized: again }))).toMatchObject({
      code: 'UNAUTHORIZED',
    });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer 8']);
    expect(again).toHaveBeenCalledOnce();
    const no = { onUnauthorized: () => undefined };
    expect(await failure(open(server.url, no))).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    expect(server.seen).toHaveLength(3);
  });

  it('that cannot be got says so, and nothing was sent', async () => {
    const server = await guarded('Bearer 9');
    const fail = () => {
      throw new Error('no keychain');
    };
    expect(await failure(open(server.url, { onUnauthorized: fail }))).toEqual({
      name: 'IsthmusError',
      code: 'UNAUTHORIZED',
      message: 'http: onUnauthorized failed: no keychain',
      sent: 'no',
      status: 401,
    });
    expect(await failure(open(server.url, { headers: fail }))).toMatchObject({
      code: 'INVALID_OPTION',
      message: 'http: the function for headers failed: no keychain',
      sent: 'no',
    });
    expect(server.seen).toHaveLength(1);
  });

  it('comes from a function for each request', async () => {
    let count = 0;
    const server = await modernFaults({});
    const client = await open(server.url, {
      headers: async () => {
        count += 1;
        return { authorization: `Bearer ${count}` };
      },
    });
    await client.callTool('any');
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
  });
});

describe('tools with annotated arguments', () => {
  const input = (header: unknown, type = 'string') => ({
    type: 'object',
    properties: { region: { type, 'x-mcp-header': header } },
  });

  it('have them repeated in headers, as last listed', async () => {
    const server = await modernFaults({}, [{ name: 'route', inputSchema: input('Region') }]);
    const client = await open(server.url);
    await client.callTool('route', { region: 'early' });
    await client.listTools();
    await client.callTool('route', { region: 'Zürich' });
    await client.callTool('route', { region: null });
    expect(server.seen.slice(1).map(({ headers }) => headers['mcp-param-region'])).toEqual([
      undefined,
      undefined,
      '=?base64?WsO8cmljaA==?=',
      undefined,
    ]);
  });

  it('are left out of the list with a warning when the annotation breaks the rules (HTTP-046, HTTP-047)', async () => {
    const server = await modernFaults({}, [
      { name: 'bad', inputSchema: input('My Region') },
      { name: 'good', inputSchema: input('Region') },
      { name: 'odd', inputSchema: input('Region', 'number') },
    ]);
    const warnings: string[] = [];
    const client = await open(server.url, { onWarning: (warning) => warnings.push(warning) });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['good']);
    expect(warnings).toEqual([
      `${server.url}: the tool "bad" was left out: x-mcp-header at region is not a valid header name: "My Region"`,
      `${server.url}: the tool "odd" was left out: x-mcp-header at region is on type "number" instead of string, integer or boolean`,
    ]);
  });

  it('are listed again when the headers are refused, and called again once (HTTP-064)', async () => {
    const mismatch = { code: -32020, message: 'Header mismatch' };
    const server = await modernFaults(
      {
        route: ({ headers, reply, refuse }) =>
          headers['mcp-param-region'] === 'west' ? reply(FINE) : refuse(400, mismatch),
        never: ({ refuse }) => refuse(400, mismatch),
      },
      [
        { name: 'route', inputSchema: input('Region') },
        { name: 'never', inputSchema: input('Region') },
      ],
    );
    const client = await open(server.url);
    expect(textOf(await client.callTool('route', { region: 'west' }))).toBe('fine');
    expect(server.methods()).toEqual(['server/discover', 'tools/call', 'tools/list', 'tools/call']);
    expect(await failure(client.callTool('never', { region: 'x' }))).toMatchObject({
      code: -32020,
      status: 400,
    });
    expect(server.methods().slice(4)).toEqual(['tools/call', 'tools/list']);
  });

  it('names tasks, tools, prompts and resources in Mcp-Name', async () => {
    const server = await modernFaults({});
    const client = await open(server.url);
    await client.request('tasks/get', { taskId: 'task 1' });
    await client.request('prompts/get', { name: 'größe' }).catch(() => {});
    await client.request('resources/read', { uri: 'file:///a b' }).catch(() => {});
    expect(server.seen.slice(1).map(({ headers }) => [headers['mcp-method'], headers['mcp-name']])).toEqual([
      ['tasks/get', 'task 1'],
      ['prompts/get', '=?base64?Z3LDtsOfZQ==?='],
      ['resources/read', 'file:///a b'],
    ]);
    expect(server.seen[1]!.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
    });
  });
});

describe('the way', () => {
  it("may be a caller's own fetch", async () => {
    const server = await modernFaults({
      events: ({ id, stream, event, res }) => {
        stream();
        event({ id, result: { resultType: 'complete', ...FINE } });
        res.end();
      },
    });
    const urls: string[] = [];
    const client = await open(server.url, {
      fetch: (input, init) => {
        urls.push(String(input));
        return fetch(input, init);
      },
    });
    expect(textOf(await client.callTool('events'))).toBe('fine');
    expect(urls).toEqual([server.url, server.url]);
    const gone = await modernFaults({});
    await gone.close();
    expect(await failure(open(gone.url, { fetch }))).toMatchObject({
      code: 'ADDRESS_UNAVAILABLE',
      sent: 'no',
    });
  });

  it('leads through the proxy that the environment names, unless the host is excepted', async () => {
    const server = await modernFaults({});
    const through: string[] = [];
    const proxy = createServer((_req, res) => res.writeHead(502).end());
    proxy.on('connect', (req, socket) => {
      through.push(req.url!);
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('NO_PROXY', '');
    expect((await failure(open(server.url)))['name']).toBe('IsthmusError');
    expect(through).toEqual([new URL(server.url).host]);
    expect(server.seen).toEqual([]);
    vi.stubEnv('NO_PROXY', '127.0.0.1');
    await open(server.url);
    expect(through).toHaveLength(1);
  });

  it('must make sense', () => {
    expect(() => http('ftp://x/')).toThrow('http: "ftp://x/" is not an http:// or https:// URL');
    expect(() => http('http://user:secret@x/mcp')).toThrow(
      'http: http://x/mcp: put user and password into the header Authorization, not into the URL',
    );
    expect(() => http('http://x/', { headers: { 'a b': '1' } })).toThrow(
      'http: "a b" is not a valid header name',
    );
    expect(() => http('http://x/', { headers: { token: 'sec\nret' } })).toThrow(
      'http: the value of the header token has characters that a header cannot hold',
    );
    expect(() => http('http://x/', { maxConcurrent: 0 })).toThrow(
      'http: maxConcurrent must be a whole number of at least 1, got 0',
    );
    expect(http('https://x/mcp?key=secret#top')).toMatchObject({
      label: 'https://x/mcp',
      identity: 'https://x/mcp',
    });
  });
});

describe('Retry-After', () => {
  const now = Date.UTC(2026, 0, 1);
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2020 00:00:00 GMT', 0],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j is %s ms', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms);
  });
});
