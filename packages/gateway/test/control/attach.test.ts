import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import {
  type AttachHandler,
  type AttachRequest,
  controlClient,
  openControl,
} from '../../src/control/index.js';
import { fakeGateway, http, later, rawClient, scratch } from '../support/control.js';

async function opened(onAttach?: AttachHandler) {
  const gateway = fakeGateway();
  const path = join(scratch(), 'a.sock');
  const control = await openControl(gateway, { path, ...(onAttach && { onAttach }) });
  later(() => control.close());
  return control;
}

const echo: AttachHandler = (request, stream, leftover) => {
  later(() => stream.destroy());
  request.accept({ hello: request.params['server'] });
  stream.unshift(leftover);
  stream.pipe(stream);
};

async function firstChunk(stream: Socket): Promise<string> {
  const first = once(stream, 'data');
  stream.resume();
  return String((await first)[0]);
}

describe('attaching', () => {
  it('hands the raw stream over, on both sides', async () => {
    const control = await opened(echo);
    const client = controlClient(control.path);
    const { stream, leftover, result } = await client.attach({ server: 'weather' });
    later(() => stream.destroy());
    expect(result).toEqual({ hello: 'weather' });
    expect(leftover.toString()).toBe('');
    stream.write('not a control request\n');
    expect(await firstChunk(stream)).toBe('not a control request\n');
  });

  it('passes on the bytes that came after the request, however they were cut', async () => {
    const control = await opened(echo);
    const { socket, received, has } = await rawClient(control.path);
    const headers = { connection: 'Upgrade', upgrade: 'isthmus-attach' };
    const request = http('GET /attach', { ...headers, 'isthmus-attach-params': '{"server":"w\\u00e9"}' });
    socket.write(`${request}{"jsonrpc":"2.0"}\n{"half":`);
    await has('{"half":');
    socket.write('1}\n');
    await has('{"half":1}\n');
    expect(received()).toBe(
      [
        'HTTP/1.1 101 Switching Protocols',
        'connection: Upgrade',
        'upgrade: isthmus-attach',
        'isthmus-attach-result: {"hello":"w\\u00e9"}',
        'isthmus-control: 2',
        '',
        '{"jsonrpc":"2.0"}\n{"half":1}\n',
      ].join('\r\n'),
    );
  });

  it('carries parameters of half a megabyte in any language', async () => {
    let received: unknown;
    const control = await opened((request, stream) => {
      later(() => stream.destroy());
      received = request.params['server'];
      request.accept({ length: String(received).length });
    });
    const server = 'wëtter🌦'.repeat(20_000);
    const { stream, result } = await controlClient(control.path).attach({ server });
    later(() => stream.destroy());
    expect(result).toEqual({ length: 160_000 });
    expect(received).toBe(server);
  });

  it.each([
    ['another path', 'GET /other', 'isthmus-attach', '{}', 400],
    ['another protocol', 'GET /attach', 'websocket', '{}', 400],
    ['parameters that are not an object', 'GET /attach', 'isthmus-attach', '[]', 400],
    ['parameters that are not JSON', 'GET /attach', 'isthmus-attach', '{', 400],
  ])('refuses %s', async (_what, request, upgrade, params, status) => {
    const control = await opened(echo);
    const { socket, answer } = await rawClient(control.path);
    socket.write(http(request, { connection: 'Upgrade', upgrade, 'isthmus-attach-params': params }));
    expect(await answer()).toMatchObject({ status, body: { error: { code: 'INVALID_OPTION' } } });
  });

  it('can be cancelled', async () => {
    let request: AttachRequest | undefined;
    const control = await opened((asked, stream) => {
      later(() => stream.destroy());
      request = asked;
    });
    const over = new AbortController();
    const attaching = controlClient(control.path).attach({}, over.signal);
    attaching.catch(() => {});
    await until('the gateway is asked', () => request !== undefined);
    over.abort();
    await expect(attaching).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('gives the client the bytes that came after the answer', async () => {
    const control = await opened((request, stream) => {
      later(() => stream.destroy());
      stream.cork();
      request.accept();
      stream.write('first message\n');
      stream.uncork();
    });
    const client = controlClient(control.path);
    const { stream, leftover } = await client.attach({});
    later(() => stream.destroy());
    stream.unshift(leftover);
    expect(await firstChunk(stream)).toBe('first message\n');
  });

  it('may be refused, with the reason', async () => {
    const control = await opened((request) => request.refuse(new Error('no server "x"')));
    const client = controlClient(control.path);
    await expect(client.attach({ server: 'x' })).rejects.toThrow('no server "x"');
  });

  it('is refused by a gateway that has no servers to attach to', async () => {
    const control = await opened();
    const client = controlClient(control.path);
    await expect(client.attach({})).rejects.toThrow('This gateway has no "GET /attach"');
    expect((await client.status()).pid).toBe(4711);
  });

  it('leaves the stream alone when the control socket is closed', async () => {
    let taken: [AttachRequest, Socket] | undefined;
    const control = await opened((request, stream) => {
      later(() => stream.destroy());
      taken = [request, stream];
      request.accept();
    });
    const client = controlClient(control.path);
    const { stream } = await client.attach({});
    later(() => stream.destroy());
    await control.close();
    taken![1].write('still here');
    expect(await firstChunk(stream)).toBe('still here');
  });

  it('says so when the gateway goes away instead of answering', async () => {
    const control = await opened((_request, stream) => void stream.destroy());
    const client = controlClient(control.path);
    await expect(client.attach({})).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  });
});
