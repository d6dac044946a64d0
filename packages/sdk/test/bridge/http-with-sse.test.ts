import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBridge } from '../../src/bridge/index.js';
import { http, serve } from '../../src/index.js';
import { Inbox, type Message } from '../support/bridge/frames.js';
import { nearProblems } from '../support/bridge/judge-near.js';
import { NearLink } from '../support/bridge/near.js';

/** A server of 2024-11-05 at a URL: a stream that names an endpoint, and replies only on the stream. */
async function oldServer() {
  const heard = new Inbox<Message>('message for the server');
  let stream: ServerResponse | undefined;
  const send = (message: object) =>
    stream!.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write('event: endpoint\ndata: /messages?id=1\n\n');
      return;
    }
    if (!request.url!.startsWith('/messages')) return void response.writeHead(405).end();
    let text = '';
    for await (const chunk of request) text += chunk;
    response.writeHead(202).end();
    const message = JSON.parse(text) as Message;
    if (message.method === 'initialize') {
      const serverInfo = { name: 'old', version: '0' };
      send({
        id: message.id,
        result: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo },
      });
    } else if (message.method !== 'notifications/initialized') heard.push(message);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`, heard, send };
}

describe('row 26: a server of 2024-11-05 over HTTP with SSE', () => {
  it('is found where nothing newer is, and serves a modern client, questions included', async () => {
    const old = await oldServer();
    const bridge = createBridge(http(old.url), { cache: false });
    const near = new NearLink();
    const served = await serve(bridge, near);
    onTestFinished(async () => {
      await served.close({ graceMs: 0 });
      await bridge.close();
      expect(near.clients.flatMap(({ frames }) => nearProblems(frames, '2026-07-28'))).toEqual([]);
    });
    const client = near.modern({ capabilities: { roots: {} } });
    client.call(1, 'a', {}, { progressToken: 't' });
    const call = await old.heard.next();
    expect(call).toMatchObject({ method: 'tools/call', params: { name: 'a' } });
    old.send({
      method: 'notifications/progress',
      params: { progressToken: call.params._meta.progressToken, progress: 1 },
    });
    expect((await client.next()).params).toEqual({ progressToken: 't', progress: 1 });
    old.send({ id: 'q', method: 'roots/list' });
    const { requestState } = (await client.next()).result;
    client.call(2, 'a', { requestState, inputResponses: { 'roots-1': { roots: [] } } });
    expect(await old.heard.next()).toEqual({ jsonrpc: '2.0', id: 'q', result: { roots: [] } });
    old.send({ id: call.id, result: { content: [] } });
    expect(await client.next()).toMatchObject({ id: 2, result: { resultType: 'complete', content: [] } });
  });
});
