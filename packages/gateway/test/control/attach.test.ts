import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type AttachHandler,
  type AttachRequest,
  connectControl,
  openControl,
} from '../../src/control/index.js';
import { fakeGateway, later, line, rawClient, scratch } from './support.js';

async function opened(onAttach?: AttachHandler) {
  const gateway = fakeGateway({
    async *logs(_name, _options, signal) {
      yield line('one');
      await once(signal, 'abort');
    },
  });
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
    const client = await connectControl(control.path);
    const { stream, leftover, result } = await client.attach({ server: 'weather' });
    later(() => stream.destroy());
    expect(result).toEqual({ hello: 'weather' });
    expect(leftover.toString()).toBe('');
    await client.closed;
    stream.write('not a control request\n');
    expect(await firstChunk(stream)).toBe('not a control request\n');
  });

  it('gives on what came behind the request, however the bytes were cut', async () => {
    const control = await opened(echo);
    const { socket, next } = await rawClient(control.path);
    socket.write('{"control":1,"id":1,"verb":"attach","params":{"server":"w"}}\n{"jsonrpc":"2.0"}\n{"half":');
    expect(await next()).toEqual({ control: 1, id: 1, result: { hello: 'w' } });
    expect(await next()).toEqual({ jsonrpc: '2.0' });
    socket.write('1}\n');
    expect(await next()).toEqual({ half: 1 });
  });

  it('gives the client what came behind the answer', async () => {
    const control = await opened((request, stream) => {
      later(() => stream.destroy());
      stream.cork();
      request.accept();
      stream.write('first message\n');
      stream.uncork();
    });
    const client = await connectControl(control.path);
    const { stream, leftover } = await client.attach({});
    later(() => stream.destroy());
    stream.unshift(leftover);
    expect(await firstChunk(stream)).toBe('first message\n');
  });

  it('may be refused, with the reason', async () => {
    const control = await opened((request) => request.refuse(new Error('no server "x"')));
    const client = await connectControl(control.path);
    await expect(client.attach({ server: 'x' })).rejects.toThrow('no server "x"');
    await client.closed;
  });

  it('is refused by a gateway that has no use for it, and the connection lives on', async () => {
    const control = await opened();
    const client = await connectControl(control.path);
    later(() => client.close());
    await expect(client.attach({})).rejects.toThrow('Nothing can be attached to this gateway');
    expect((await client.status()).pid).toBe(4711);
  });

  it('is refused while something else is going on', async () => {
    const control = await opened(echo);
    const { socket, next } = await rawClient(control.path);
    socket.write('{"control":1,"id":1,"verb":"logs","follow":true}\n{"control":1,"id":2,"verb":"attach"}\n');
    expect(await next()).toMatchObject({ id: 2, error: { code: 'INVALID_OPTION' } });
    expect(await next()).toMatchObject({ id: 1, line: { text: 'one' } });
  });

  it('leaves the stream alone when the control socket is closed', async () => {
    let taken: [AttachRequest, Socket] | undefined;
    const control = await opened((request, stream) => {
      later(() => stream.destroy());
      taken = [request, stream];
      request.accept();
    });
    const client = await connectControl(control.path);
    const { stream } = await client.attach({});
    later(() => stream.destroy());
    await control.close();
    taken![1].write('still here');
    expect(await firstChunk(stream)).toBe('still here');
  });

  it('says so when the gateway goes away instead of answering', async () => {
    const control = await opened((_request, stream) => void stream.destroy());
    const client = await connectControl(control.path);
    await expect(client.attach({})).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  });
});
