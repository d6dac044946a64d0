import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { controlClient, type OpenControlOptions, openControl } from '../../src/control/index.js';
import { fakeGateway, http, later, rawClient, scratch } from '../support/control.js';

async function opened(options: Omit<OpenControlOptions, 'path'> = {}) {
  const gateway = fakeGateway();
  const control = await openControl(gateway, { path: join(scratch(), 'a.sock'), ...options });
  later(() => control.close());
  return { gateway, path: control.path, ...(await rawClient(control.path)) };
}

describe('a control socket that is sent nonsense', () => {
  it.each([
    ['text', 'hello\n', 400],
    ['HTTP without a host', 'GET /status HTTP/1.1\r\n\r\n', 400],
    ['an unknown path', http('POST /explode'), 404],
    ['an unknown method', http('DELETE /status'), 404],
    ['an unknown action', http('POST /servers/a/explode'), 404],
    ['a name that is not percent-encoded', http('POST /servers/%E0%A4%A/stop'), 400],
    ['lines that are not a number', http('GET /logs?lines=all'), 400],
    ['negative lines', http('GET /logs?lines=-1'), 400],
    ['an unclear follow', http('GET /logs?follow=yes'), 400],
    ['bytes that are not text', '\u0000\u0001\ud800', 400],
    ['a web page', http('GET /status', { origin: 'https://example.com' }), 403],
    ['a body', http('POST /reload', { 'content-length': '99' }), 413],
    ['a body of unknown length', http('POST /reload', { 'transfer-encoding': 'chunked' }), 413],
    ['headers that are too long', http('GET /status', { x: 'x'.repeat(1100 * 1024) }), 431],
  ])('answers %s with an error', async (_what, text, status) => {
    const { gateway, path, socket, answer } = await opened();
    socket.write(text);
    const { status: got, body, head } = await answer();
    expect(got).toBe(status);
    // Node answers a request without a host by itself.
    if (head.includes('isthmus-control')) expect(body).toMatchObject({ error: { code: 'INVALID_OPTION' } });
    expect(gateway.asked).toEqual([]);
    expect((await controlClient(path).status()).pid).toBe(4711);
  });

  it('names both versions when they differ', async () => {
    const { socket, answer } = await opened();
    socket.write(http('GET /status', { 'isthmus-control': '3' }));
    expect(await answer()).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'NO_COMMON_REVISION',
          message:
            'This gateway speaks version 2 of the control protocol, and the command version 3: use the same isthmus on both sides',
        },
      },
    });
  });

  it('answers a command of version 1 with a line that it understands', async () => {
    const { socket, answer } = await opened();
    socket.write('{"control":1,"id":1,"verb":"status"}\n');
    const { status, head } = await answer();
    expect(status).toBe(0);
    expect(JSON.parse(head)).toMatchObject({ control: 2, id: null, error: { code: 'NO_COMMON_REVISION' } });
  });

  it('serves the first request of a connection, and no pipelined ones', async () => {
    const { gateway, socket, answer } = await opened();
    socket.write(http('POST /reload').repeat(1000));
    const { status, head } = await answer();
    expect([status, head]).toEqual([200, expect.stringMatching(/^connection: close$/im)]);
    expect(gateway.asked).toEqual(['reload']);
  });

  it('closes connections beyond the bound at once', async () => {
    const { path, socket, answer } = await opened({ maxConnections: 1 });
    await expect(controlClient(path).status()).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    socket.write(http('GET /status'));
    expect(await answer()).toMatchObject({ status: 200, body: { pid: 4711 } });
  });

  it.each(['', 'GET /status HTTP/1.1\r\nhost: x\r\n'])(
    'ends a connection that sends only %j',
    async (text) => {
      const { socket, answer } = await opened({ requestMs: 50 });
      socket.write(text);
      expect(await answer()).toMatchObject({ status: 408, body: { error: { code: 'INVALID_OPTION' } } });
    },
  );

  it('answers a client that stops sending before it reads', async () => {
    const { socket, answer } = await opened();
    socket.end(http('GET /status'));
    expect(await answer()).toMatchObject({ status: 200, body: { pid: 4711 } });
  });
});

describe('a client that is answered nonsense', () => {
  async function answering(text: string) {
    const path = join(scratch(), 'a.sock');
    const server = createServer((socket) => {
      later(() => socket.destroy());
      socket.on('error', () => {}).once('data', () => socket.write(text));
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    later(() => server.close());
    return controlClient(path, { statusMs: 200 });
  }

  const response = (version: string, body: string) =>
    `HTTP/1.1 200 OK\r\n${version}content-length: ${body.length}\r\n\r\n${body}`;

  it('says that the peer does not speak HTTP', async () => {
    const client = await answering('220 mail.example.com ESMTP\n');
    await expect(client.status()).rejects.toThrow(
      'The process at the control socket is not a gateway: it sent "220 mail.example.com ESMTP"',
    );
  });

  it('says that the peer is another web server', async () => {
    const client = await answering(response('', '<html>'));
    await expect(client.status()).rejects.toThrow('is not a gateway: it sent "HTTP 200"');
  });

  it('says that the answer is not JSON', async () => {
    const client = await answering(response('isthmus-control: 2\r\n', '<html>'));
    await expect(client.status()).rejects.toThrow('is not a gateway: it sent "<html>"');
  });

  it.each([
    ['a later version', response('isthmus-control: 7\r\n', '{}'), 'version 7'],
    ['version 1, which was not HTTP', '{"control":1,"id":null,"error":{}}\n', 'version 1'],
  ])('says that the peer is of %s', async (_what, text, version) => {
    const client = await answering(text);
    await expect(client.status()).rejects.toThrow(
      `This command speaks version 2 of the control protocol, and the gateway ${version}: use the same isthmus on both sides`,
    );
  });

  it.each([
    ['nothing', ''],
    ['half an answer', 'HTTP/1.1 200 OK\r\nisthmus-control: 2\r\ncontent-length: 9\r\n\r\n{'],
  ])('does not wait for ever for a peer that sends %s', async (_what, text) => {
    const client = await answering(text);
    await expect(client.status()).rejects.toMatchObject({
      code: 'TIMED_OUT',
      message: 'The gateway did not answer status within 200 ms',
    });
  });
});
