import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { controlClient, type LogLine, openControl } from '../../src/control/index.js';
import {
  type FakeOptions,
  fakeGateway,
  http,
  later,
  line,
  rawClient,
  STATUS,
  scratch,
} from '../support/control.js';

async function opened(options: FakeOptions = {}) {
  const gateway = fakeGateway(options);
  const control = await openControl(gateway, { path: join(scratch(), 'a.sock') });
  later(() => control.close());
  const client = controlClient(control.path);
  return { gateway, control, client };
}

const never = new AbortController().signal;

describe('the control socket', () => {
  it('passes every request to the gateway, and returns its answer', async () => {
    const { gateway, client } = await opened();
    expect(await client.status()).toEqual(JSON.parse(JSON.stringify(STATUS)));
    await client.restart('a');
    await client.stop('a');
    await client.start('a');
    expect(await client.reload()).toEqual({ added: ['b'], changed: [], removed: [], unchanged: ['a'] });
    await client.shutdown();
    expect(gateway.asked).toEqual(['status', 'restart a', 'stop a', 'start a', 'reload', 'shutdown']);
  });

  it('answers a quick request while a slow one runs', async () => {
    let finish = () => {};
    const slow = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { client } = await opened({ restart: () => slow });
    let restarted = false;
    const restart = client.restart('a').then(() => {
      restarted = true;
    });
    expect((await client.status()).pid).toBe(4711);
    expect(restarted).toBe(false);
    finish();
    await restart;
  });

  it('returns the error of the gateway, with its code', async () => {
    const { client } = await opened({ restart: () => Promise.reject(new Error('there is no "a"')) });
    await expect(client.restart('a')).rejects.toMatchObject({
      code: 'REFUSED_BY_PEER',
      message: 'there is no "a"',
    });
  });

  it('streams the existing lines, and ends', async () => {
    const { gateway, client } = await opened({
      async *logs() {
        yield line('one');
        yield line('two');
      },
    });
    const seen: LogLine[] = [];
    for await (const each of client.logs('a', { lines: 7, follow: false }, never)) seen.push(each);
    expect(seen.map(({ text }) => text)).toEqual(['one', 'two']);
    expect(gateway.asked).toEqual(['logs a 7']);
  });

  it('ends the logs of the gateway when the reader stops', async () => {
    const { gateway, client } = await opened({
      async *logs(_name, _options, signal) {
        yield line('one');
        await once(signal, 'abort');
      },
    });
    for await (const _ of client.logs(undefined, { lines: 1, follow: true }, never)) break;
    await until('the gateway is told', () => gateway.followed[0]!.aborted);
    expect((await client.status()).pid).toBe(4711);
  });

  it('ends the logs of the gateway when a client dies while it follows', async () => {
    const gateway = fakeGateway({
      async *logs(_name, _options, signal) {
        yield line('one');
        await once(signal, 'abort');
      },
    });
    const control = await openControl(gateway, { path: join(scratch(), 'a.sock') });
    later(() => control.close());
    const { socket, has } = await rawClient(control.path);
    socket.write(http('GET /logs?follow=true'));
    await has(JSON.stringify(line('one')));
    socket.destroy();
    await until('the gateway is told', () => gateway.followed[0]!.aborted);
  });

  it('takes no more lines from the gateway than a slow reader reads', async () => {
    let given = 0;
    const gateway = fakeGateway({
      async *logs(_name, _options, signal) {
        while (!signal.aborted) {
          given += 1;
          yield line('x'.repeat(1000));
        }
      },
    });
    const control = await openControl(gateway, { path: join(scratch(), 'a.sock') });
    later(() => control.close());
    const slow = await rawClient(control.path);
    slow.socket.pause();
    slow.socket.write(http('GET /logs?follow=true'));
    await until('lines are given', () => given > 10);
    let before = -1;
    while (before !== given) {
      before = given;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(given).toBeLessThan(5000);
    const other = controlClient(control.path);
    expect((await other.status()).pid).toBe(4711);
    slow.socket.resume();
    await until('it goes on', () => given > before);
  });

  it('ends followed logs when the client closes its sending side', async () => {
    const gateway = fakeGateway({
      async *logs(_name, _options, signal) {
        yield line('one');
        await once(signal, 'abort');
      },
    });
    const control = await openControl(gateway, { path: join(scratch(), 'a.sock') });
    later(() => control.close());
    const { socket, has, answer } = await rawClient(control.path);
    socket.write(http('GET /logs?follow=true'));
    await has(JSON.stringify(line('one')));
    socket.end();
    expect((await answer()).head).toContain('content-type: application/x-ndjson');
    expect(gateway.followed[0]!.aborted).toBe(true);
  });

  it('does not starve others when a source of lines is never empty and its reader goes away', async () => {
    const gateway = fakeGateway({
      async *logs(_name, _options, signal) {
        while (!signal.aborted) yield line('x');
      },
    });
    const control = await openControl(gateway, { path: join(scratch(), 'a.sock') });
    later(() => control.close());
    const { socket, has } = await rawClient(control.path);
    socket.write(http('GET /logs?follow=true'));
    await has('"text":"x"');
    expect((await controlClient(control.path).status()).pid).toBe(4711);
    socket.destroy();
    await until('the lines end', () => gateway.followed[0]!.aborted);
  });

  it('fails when the gateway dies in the middle of its logs', async () => {
    const seen: string[] = [];
    const { client } = await opened({
      async *logs() {
        yield line('one');
        await until('the first line is read', () => seen.length === 1);
        throw new Error('broken');
      },
    });
    const reading = (async () => {
      for await (const each of client.logs('a', { lines: 1, follow: true }, never)) seen.push(each.text);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect(seen).toEqual(['one']);
  });

  it('ends followed logs when it is closed, and lets other requests finish', async () => {
    let finish = () => {};
    const { control, client } = await opened({
      restart: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
      async *logs(_name, _options, signal) {
        yield line('one');
        await once(signal, 'abort');
      },
    });
    const seen: string[] = [];
    const following = (async () => {
      for await (const each of client.logs('a', { lines: 1, follow: true }, never)) seen.push(each.text);
    })();
    const restart = client.restart('a');
    await until('the first line', () => seen.length === 1);
    const closing = control.close();
    await following;
    finish();
    await restart;
    await closing;
    await expect(client.status()).rejects.toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
    await control.close();
  });
});
