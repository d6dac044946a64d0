import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { connectControl, openControl } from '../../src/control/index.js';
import { fakeGateway, later, rawClient, scratch, until } from './support.js';

async function opened() {
  const control = await openControl(fakeGateway(), { path: join(scratch(), 'a.sock') });
  later(() => control.close());
  return rawClient(control.path);
}

const STATUS_LINE = '{"control":1,"id":9,"verb":"status"}\n';

describe('a control socket that is sent nonsense', () => {
  it.each([
    ['no JSON', 'hello', null, 'INVALID_OPTION'],
    ['no object', '[1,2]', null, 'INVALID_OPTION'],
    ['no id', '{"control":1,"verb":"status"}', null, 'INVALID_OPTION'],
    ['an unknown verb', '{"control":1,"id":3,"verb":"explode"}', 3, 'INVALID_OPTION'],
    ['no verb', '{"control":1,"id":3}', 3, 'INVALID_OPTION'],
    ['a name that is no string', '{"control":1,"id":3,"verb":"stop","name":{"a":1}}', 3, 'INVALID_OPTION'],
    ['lines that are no number', '{"control":1,"id":3,"verb":"logs","lines":"all"}', 3, 'INVALID_OPTION'],
    ['bytes that are no text', '\u0000\u0001\ud800', null, 'INVALID_OPTION'],
  ])('answers %s with an error, and lives on', async (_what, text, id, code) => {
    const { socket, next } = await opened();
    socket.write(`${text}\n${STATUS_LINE}`);
    expect(await next()).toMatchObject({ control: 1, id, error: { code } });
    expect(await next()).toMatchObject({ control: 1, id: 9, result: { pid: 4711 } });
  });

  it('says which versions meet when they differ', async () => {
    const { socket, next } = await opened();
    socket.write('{"control":2,"id":1,"verb":"status","newField":true}\n');
    expect(await next()).toEqual({
      control: 1,
      id: 1,
      error: {
        code: 'NO_COMMON_REVISION',
        message:
          'This gateway speaks version 1 of the control protocol, and the command version 2: use the same isthmus on both sides',
      },
    });
  });

  it('skips a line that is too long, says so once, and lives on', async () => {
    const { socket, next } = await opened();
    socket.write('x'.repeat(3 * 1024 * 1024));
    socket.write(`\n${STATUS_LINE}`);
    expect(await next()).toMatchObject({
      id: null,
      error: { message: 'A control request has at most 1048576 bytes' },
    });
    expect(await next()).toMatchObject({ id: 9, result: { pid: 4711 } });
  });

  it('stops reading from a client that sends and does not read', async () => {
    const { socket, next } = await opened();
    socket.pause();
    socket.write(STATUS_LINE.repeat(40_000));
    // Both ends live in this process: what does not move for so many turns does not move.
    let before = -1;
    for (let still = 0; still < 200; still += 1) {
      if (socket.writableLength !== before) still = 0;
      before = socket.writableLength;
      await setImmediate();
    }
    expect(before).toBeGreaterThan(500_000);
    socket.resume();
    for (let at = 0; at < 10_000; at += 1) expect((await next())['id']).toBe(9);
  });

  it('refuses more at once than anybody needs', async () => {
    const { socket, next } = await opened();
    socket.write(
      Array.from({ length: 40 }, (_, at) => `{"control":1,"id":${at},"verb":"status"}\n`).join(''),
    );
    const answers: Record<string, unknown>[] = [];
    while (answers.length < 40) answers.push(await next());
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(32);
    expect(answers.find(({ id }) => id === 39)).toMatchObject({ error: { code: 'BUSY' } });
  });

  it('answers a client that stops sending before it reads', async () => {
    const { socket, next } = await opened();
    socket.end(STATUS_LINE.trimEnd());
    expect(await next()).toMatchObject({ id: 9, result: { pid: 4711 } });
    await until(() => socket.readableEnded, 'the gateway hangs up');
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
    const client = await connectControl(path, { statusMs: 200 });
    later(() => client.close());
    return client;
  }

  it('says that it is no gateway', async () => {
    const client = await answering('220 mail.example.com ESMTP\n');
    await expect(client.status()).rejects.toThrow(
      'What listens on the control socket is no gateway: it sent "220 mail.example.com ESMTP"',
    );
  });

  it('says that it is another version', async () => {
    const client = await answering('{"control":7,"id":1,"result":{}}\n');
    await expect(client.status()).rejects.toThrow(
      'This command speaks version 1 of the control protocol, and the gateway version 7: use the same isthmus on both sides',
    );
  });

  it('does not wait for ever', async () => {
    const client = await answering('');
    await expect(client.status()).rejects.toMatchObject({
      code: 'TIMED_OUT',
      message: 'The gateway did not answer status within 200 ms',
    });
  });
});
