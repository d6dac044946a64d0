import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../../../test/support/until.js';
import { FINE, faultServer, INITIALIZED, legacyFaults, type Seen } from '../../support/fault-server.js';
import { failure, open, textOf, WatchedClock } from '../../support/http-client.js';

/** Streamable HTTP of the legacy era. */

describe('a session', () => {
  it('is named in everything after the handshake, with the revision, and is ended (SESS-004, LHTTP-024)', async () => {
    const server = await legacyFaults(({ reply }) => reply(FINE));
    const client = await open(server.url);
    await client.callTool('any');
    await client.close();
    expect(
      server.seen.map(({ verb, method, headers }) => [
        verb === 'POST' ? method : verb,
        headers['mcp-session-id'],
        headers['mcp-protocol-version'],
      ]),
    ).toEqual([
      ['server/discover', undefined, '2026-07-28'],
      ['initialize', undefined, undefined],
      ['notifications/initialized', 's1', '2025-11-25'],
      ['GET', 's1', '2025-11-25'],
      ['tools/call', 's1', '2025-11-25'],
      ['DELETE', 's1', '2025-11-25'],
    ]);
  });

  it.each([
    ['404', 404, undefined],
    ['404 and a message', 404, { code: -32001, message: 'Session not found' }],
    [
      '400 and a complaint, as servers in the field do',
      400,
      { code: -32000, message: 'Bad Request: No valid session ID provided' },
    ],
  ])('that is refused with %s is opened again once, and the call is made again', async (_, status, error) => {
    const server = await legacyFaults(({ headers, reply, say }) => {
      if (headers['mcp-session-id'] !== 's1') return reply(FINE);
      const body = error ? JSON.stringify({ jsonrpc: '2.0', error, id: null }) : '';
      say(status, body, { 'content-type': 'application/json' });
    });
    const client = await open(server.url);
    const calls = ['a', 'b', 'c'].map((name) => client.callTool(name));
    expect((await Promise.all(calls)).map(textOf)).toEqual(['fine', 'fine', 'fine']);
    const methods = server.methods();
    expect(methods.filter((method) => method === 'initialize')).toHaveLength(2);
    expect(methods.filter((method) => method === 'server/discover')).toHaveLength(1);
    expect(methods).not.toContain('DELETE');
  });

  it('that is lost again and again is an error in the end, and says that the call did not run', async () => {
    const server = await legacyFaults(({ say }) => say(404, ''));
    const client = await open(server.url);
    expect(await failure(client.callTool('any'))).toEqual({
      name: 'IsthmusError',
      code: 'CONNECTION_CLOSED',
      message: `${server.url} no longer knows the session`,
      sent: 'no',
      status: 404,
    });
  });

  it('with a server that does not answer DELETE ends all the same', async () => {
    const server = await faultServer(({ method, verb, res, reply, say }) => {
      if (method === 'server/discover') return say(400, '');
      if (method === 'initialize') {
        res.setHeader('mcp-session-id', 's');
        return reply(INITIALIZED);
      }
      if (verb !== 'DELETE') say(202, '');
    });
    const client = await open(server.url);
    await client.close();
  });

  it('is told of a cancelled call before its stream is closed', async () => {
    const dropped = vi.fn();
    const told = vi.fn();
    const server = await legacyFaults(({ method, params, stream, res, say }) => {
      if (method === 'notifications/cancelled') {
        told(params);
        return say(202, '');
      }
      res.on('close', () => dropped(told.mock.calls.length));
      stream();
    });
    const client = await open(server.url);
    expect(await failure(client.callTool('hang', {}, { timeoutMs: 500 }))).toMatchObject({
      code: 'TIMED_OUT',
    });
    await eventually(() => expect(dropped).toHaveBeenCalledWith(1));
    expect(told).toHaveBeenCalledWith({ requestId: 2, reason: 'tools/call was not answered within 500 ms' });
  });
});

describe('the stream of a request', () => {
  it('that is closed early is resumed after the time that the server names (LHTTP-022)', async () => {
    const server = await legacyFaults(({ verb, id, headers, stream, event, res }) => {
      stream();
      if (verb === 'POST') {
        asked = id;
        // No other wait of the client takes 700 ms.
        res.end('id: 1\nretry: 700\ndata: \n\n');
      } else if (headers['last-event-id'] !== undefined) {
        // The standing stream may come as late as this, and resumes nothing.
        event({ id: asked, result: FINE }, '2');
        res.end();
      }
    });
    let asked: unknown;
    const clock = new WatchedClock();
    const client = await open(server.url, { clock });
    const call = client.callTool('poll');
    await clock.pass(700, () => expect(resumptions(server)).toEqual([]));
    expect(textOf(await call)).toBe('fine');
    const [{ headers }, ...others] = resumptions(server) as [Seen, ...Seen[]];
    expect(others).toEqual([]);
    expect([headers['last-event-id'], headers['mcp-session-id'], headers.accept]).toEqual([
      '1',
      's1',
      'text/event-stream',
    ]);
  });

  it('that is cut is resumed where it was interrupted, several times', async () => {
    const server = await legacyFaults(({ verb, id, headers, stream, event, res }) => {
      stream();
      if (verb === 'POST') asked = id;
      const last = Number(headers['last-event-id'] ?? 0);
      if (last === 3) event({ id: asked, result: FINE }, '4');
      else
        event(
          { method: 'notifications/message', params: { level: 'info', data: last + 1 } },
          String(last + 1),
        );
      res.write('retry: 1\n\n', () => res.destroy());
    });
    let asked: unknown;
    const client = await open(server.url);
    const heard: unknown[] = [];
    const result = await client.callTool('cut', {}, { onLog: ({ data }) => heard.push(data) });
    expect({ text: textOf(result), heard }).toEqual({ text: 'fine', heard: [1, 2, 3] });
  });

  it('that cannot be resumed fails, and may have run', async () => {
    const server = await legacyFaults(({ verb, stream, res, say }) => {
      if (verb === 'GET') return say(405, '');
      stream();
      res.end('id: 1\nretry: 1\ndata: \n\n');
    });
    const client = await open(server.url);
    expect(await failure(client.callTool('cut'))).toMatchObject({
      code: 'CONNECTION_CLOSED',
      message: `The answer to tools/call was interrupted: ${server.url} answered with HTTP 405 Method Not Allowed`,
      sent: 'maybe',
    });
  });

  it('without event ids is not resumed', async () => {
    const server = await legacyFaults(({ stream, res }) => {
      stream();
      res.end();
    });
    const client = await open(server.url);
    expect(await failure(client.callTool('cut'))).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'maybe' });
    expect(resumptions(server)).toEqual([]);
  });
});

/** A GET without an event is for the standing stream, and may come when it likes. */
function resumptions({ seen }: { readonly seen: readonly Seen[] }): Seen[] {
  return seen.filter(({ headers }) => headers['last-event-id'] !== undefined);
}

describe('the standing stream', () => {
  const standing = (onGet: Parameters<typeof faultServer>[0]) =>
    faultServer((exchange) => {
      const { method, verb, reply, say, res } = exchange;
      if (verb === 'GET') return onGet(exchange);
      if (method === 'server/discover') return say(400, '');
      if (method === 'initialize') {
        res.setHeader('mcp-session-id', `s${exchange.before + 1}`);
        return reply({ ...INITIALIZED, capabilities: { tools: { listChanged: true } } });
      }
      if (method === 'tools/call') return reply(FINE);
      say(202, '');
    });

  it('is there before the first call leaves', async () => {
    const server = await standing(({ stream }) => stream());
    const client = await open(server.url);
    await client.callTool('any');
    expect(server.methods().slice(2)).toEqual(['notifications/initialized', 'GET', 'tools/call']);
  });

  it('is opened again with the last event, after as long as the server says', async () => {
    const server = await standing(({ before, stream, event, res }) => {
      stream();
      if (before === 0) res.write('retry: 3000\n');
      event({ method: 'notifications/tools/list_changed' }, `event ${before}`);
      if (before === 0) res.end();
    });
    const clock = new WatchedClock();
    await open(server.url, { clock });
    await clock.pass(3000, () => {
      expect(server.methods().filter((method) => method === 'GET')).toHaveLength(1);
    });
    await eventually(() => expect(server.methods().filter((method) => method === 'GET')).toHaveLength(2));
    expect(server.seen.findLast(({ verb }) => verb === 'GET')!.headers['last-event-id']).toBe('event 0');
  });

  it('that the server does not offer is not missed, and one that fails is tried again ever less often', async () => {
    const warnings: string[] = [];
    const none = await standing(({ say }) => say(405, ''));
    await open(none.url, { onWarning: (warning) => warnings.push(warning) });
    const bad = await standing(({ say }) => say(500, ''));
    const clock = new WatchedClock();
    await open(bad.url, { clock, postTimeoutMs: 77_777, onWarning: (warning) => warnings.push(warning) });
    for (const [tries, delay] of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
      await clock.pass(delay, () => {
        expect(bad.methods().filter((method) => method === 'GET')).toHaveLength(tries + 1);
      });
    }
    expect(warnings).toEqual([]);
  });

  it('that is refused with 404, as by servers without a route for GET, does not end the session', async () => {
    const server = await standing(({ say }) => say(404, 'Cannot GET /mcp'));
    const client = await open(server.url);
    expect(textOf(await client.callTool('any'))).toBe('fine');
    expect(server.methods().filter((method) => method === 'initialize')).toHaveLength(1);
  });

  it('tells when the session is lost, so that those who listen get another', async () => {
    const server = await standing(({ headers, before, say, stream, event, res }) => {
      if (headers['mcp-session-id'] === 's1' && before > 0) return say(404, '');
      stream();
      res.write('retry: 1\n\n');
      if (headers['mcp-session-id'] === 's1') setTimeout(() => res.end(), 100);
      else event({ method: 'notifications/tools/list_changed' });
    });
    const client = await open(server.url);
    await using changes = await client.listen({ tools: true });
    for await (const change of changes) {
      expect(change).toEqual({ kind: 'tools' });
      break;
    }
    expect(server.methods().filter((method) => method === 'initialize')).toHaveLength(2);
  });
});
