import { Agent, request as httpRequest } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServer } from '../../../src/index.js';
import {
  type Ask,
  ask,
  gate,
  legacyCall,
  modern,
  modernCall,
  open,
  openSession,
  plainServer,
  rawSocket,
  SUBSCRIPTION_ID,
  serveHttp,
  within,
} from '../../support/http-server.js';

/** A tool that says when it runs and waits to be let go. */
function slowServer() {
  const server = createServer({ name: 'slow', version: '1' });
  const started = gate();
  const release = gate();
  let signal: AbortSignal | undefined;
  server.tool('slow', {}, async (_args, ctx) => {
    signal = ctx.signal;
    started.open();
    await release.promise;
    return 'finished';
  });
  server.resource('test://a', { name: 'a' }, () => 'a');
  return { server, started, release, aborted: () => signal?.aborted };
}

describe('a server that stops', () => {
  it('finishes what is running, and then is gone', async () => {
    const { server, started, release } = slowServer();
    const { url, port, served } = await serveHttp(server);
    const running = ask(url, modernCall(1, 'slow'));
    await started.promise;
    const closed = served.close({ graceMs: 60_000 });
    release.open();
    expect((await running).json.result?.content).toEqual([{ type: 'text', text: 'finished' }]);
    await within(15_000, 'close', closed);
    await expect(rawSocket(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('takes no new connection while it finishes', async () => {
    const { server, started, release } = slowServer();
    const { url, port, served } = await serveHttp(server);
    const running = ask(url, modernCall(1, 'slow'));
    await started.promise;
    const closed = served.close({ graceMs: 60_000 });
    await expect(rawSocket(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    release.open();
    expect((await running).status).toBe(200);
    await within(15_000, 'close', closed);
  });

  it('answers with an error what is not finished within the grace', async () => {
    const { server, started, aborted } = slowServer();
    const { url, served } = await serveHttp(server);
    const running = ask(url, modernCall(1, 'slow'));
    await started.promise;
    await within(15_000, 'close', served.close({ graceMs: 20 }));
    const { json } = await running;
    expect(json.error).toEqual({
      code: -32603,
      message: 'The server stopped before this request was finished',
    });
    expect(aborted()).toBe(true);
  });

  it('refuses with 503 a request on a connection that was open before', async () => {
    const { server, started, release } = slowServer();
    const { url, port, served } = await serveHttp(server);
    const socket = await rawSocket(port);
    const running = ask(url, modernCall(1, 'slow'));
    await started.promise;
    // Half a request: the connection is not idle, so it stays when the server stops listening.
    socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\n');
    await ask(url, modern(2, 'server/discover'));
    const closed = served.close({ graceMs: 60_000 });
    const { body, headers } = modern(3, 'server/discover');
    for (const [name, value] of Object.entries(headers!)) socket.write(`${name}: ${String(value)}\r\n`);
    socket.write(`content-length: ${Buffer.byteLength(body!)}\r\n\r\n${String(body)}`);
    await socket.until('answer', () => socket.text.includes('\r\n\r\n'));
    expect(socket.status).toBe(503);
    expect(socket.text.toLowerCase()).toContain('retry-after: 1');
    release.open();
    expect((await running).status).toBe(200);
    await within(15_000, 'close', closed);
  });

  it('gives every open listen its closing result and ends the stream (SUB-012)', async () => {
    const { server } = slowServer();
    const { url, served } = await serveHttp(server);
    const listens = await Promise.all(
      [7, 'seven'].map((id) =>
        open(url, modern(id, 'subscriptions/listen', { notifications: { resourcesListChanged: true } })),
      ),
    );
    for (const listen of listens) await listen.next();
    await within(15_000, 'close', served.close({ graceMs: 60_000 }));
    for (const [index, id] of [7, 'seven'].entries()) {
      const listen = listens[index]!;
      await listen.end();
      expect(listen.complete).toBe(true);
      expect(listen.messages).toHaveLength(2);
      expect(listen.messages[1]).toMatchObject({
        id,
        result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: id } },
      });
    }
  });

  it('ends the standing stream of a session, and lets its running call finish first', async () => {
    const { server, started, release } = slowServer();
    const { url, served } = await serveHttp(server);
    const session = await openSession(url);
    const standing = await session.get();
    const running = session.post(legacyCall(1, 'slow'));
    await started.promise;
    const closed = served.close({ graceMs: 60_000 });
    release.open();
    expect((await running).json.result?.content).toEqual([{ type: 'text', text: 'finished' }]);
    await standing.end();
    expect(standing.complete).toBe(true);
    await within(15_000, 'close', closed);
    expect(served.connections).toBe(0);
  });

  it('is not held by an unused keep-alive connection', async () => {
    const { url, served } = await serveHttp(plainServer());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    expect(await keptAlive(agent, url)).toBe(200);
    await within(15_000, 'close', served.close({ graceMs: 60_000 }));
  });

  it('is not held by a keep-alive connection whose last answer was given while it stopped', async () => {
    const { server, started, release } = slowServer();
    const { url, served } = await serveHttp(server);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const running = keptAlive(agent, url, modernCall(1, 'slow'));
    await started.promise;
    const closed = served.close({ graceMs: 60_000 });
    release.open();
    expect(await running).toBe(200);
    await within(15_000, 'close', closed);
  });

  it('says in an answer that it does not keep the connection (RFC 9112, §9.6)', async () => {
    const { server, started, release } = slowServer();
    const { url, served } = await serveHttp(server);
    const kept = (request: Ask): Ask => ({
      ...request,
      headers: { ...request.headers, connection: 'keep-alive' },
    });
    expect((await ask(url, kept(modern(1, 'server/discover')))).headers.connection).toBe('keep-alive');
    const running = ask(url, kept(modernCall(2, 'slow')));
    await started.promise;
    const closed = served.close({ graceMs: 60_000 });
    release.open();
    expect((await running).headers.connection).toBe('close');
    await within(15_000, 'close', closed);
  });

  it('is not held by a connection that never sent anything', async () => {
    const { url, port, served } = await serveHttp(plainServer());
    const silent = await rawSocket(port);
    await ask(url, modern(1, 'server/discover'));
    await within(15_000, 'close', served.close({ graceMs: 100 }));
    await within(15_000, 'end of the silent connection', silent.closed);
  });

  it('is not held by half a body', async () => {
    const { url, port, served } = await serveHttp(plainServer());
    const half = await rawSocket(port);
    half.write(
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"json',
    );
    // What was written before has been read when this is answered.
    await ask(url, modern(1, 'server/discover'));
    await within(15_000, 'close', served.close({ graceMs: 100 }));
  });

  it('is not held by a client that does not read its stream', async () => {
    const server = createServer({ name: 'talkative', version: '1' });
    const talked = gate();
    server.tool('talk', {}, async (_args, ctx) => {
      for (let step = 1; step <= 40; step += 1) {
        ctx.progress(step, 40, 'x'.repeat(256 * 1024));
        await new Promise((resolve) => setImmediate(resolve));
      }
      talked.open();
      return 'x'.repeat(4 * 1024 * 1024);
    });
    const { url, served } = await serveHttp(server);
    const stalled = await open(url, modernCall(1, 'talk', {}, { meta: { progressToken: 1 } }));
    stalled.response.pause();
    await talked.promise;
    await within(15_000, 'close', served.close({ graceMs: 100 }));
  });

  it('may be closed twice, and again after it has closed', async () => {
    const { served } = await serveHttp(plainServer());
    await within(15_000, 'both', Promise.all([served.close(), served.close()]));
    await within(15_000, 'the third', served.close());
    await within(15_000, 'closed', served.closed);
  });
});

/** One request on the agent's connection; gives the status. */
function keptAlive(agent: Agent, url: string, given = modern(1, 'server/discover')): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      method: 'POST',
      agent,
      headers: given.headers as Record<string, string>,
    });
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!));
    });
    request.on('error', reject);
    request.end(given.body);
  });
}
