import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { call, initialize, legacyCall } from '../../../../../test/support/messages.js';
import { until } from '../../../../../test/support/until.js';
import { heard, startShim } from '../../support/shim.js';

const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const LOST = {
  code: -32603,
  message: 'The daemon that serves weather ended while this request was in flight; it may have run',
  data: { reason: 'CONNECTION_CLOSED', sent: 'maybe' },
};

const result = (id: unknown, value: object = {}) => ({ jsonrpc: '2.0', id, result: value });

/** A legacy host with an open session. */
async function openSession() {
  const played = await startShim();
  played.send(initialize('init'), INITIALIZED);
  const first = await played.daemon(1);
  await heard(first.lines, 'initialize');
  first.say(result('init', { protocolVersion: '2025-11-25' }));
  await played.answer('init');
  await heard(first.lines, 'notifications/initialized');
  /** The daemon dies, and the shim has noticed it. */
  const loseFirst = async () => {
    played.send(legacyCall('lost', 'a'));
    await heard(first.lines, 'tools/call');
    first.die();
    expect((await played.answer('lost')).error).toEqual(LOST);
  };
  return { ...played, first, loseFirst };
}

describe('the shim passes on', () => {
  test('lines in both directions, whatever is in them', async () => {
    const { send, daemon, host, answer } = await startShim();
    send(call(1, 'echo', { text: 'ü "}\n{' }));
    const first = await daemon(1);
    expect((await heard(first.lines, 'tools/call')).params).toMatchObject({ arguments: { text: 'ü "}\n{' } });
    first.say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1 } });
    first.say(result(1, { content: [{ type: 'text', text: 'ü' }] }));
    await answer(1);
    expect(host).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1 } },
      result(1, { content: [{ type: 'text', text: 'ü' }] }),
    ]);
  });

  test('lines that are not messages, for the daemon to answer', async () => {
    const { input, daemon, host } = await startShim();
    const first = await daemon(1);
    input.write('[1,2\n');
    await until('the first daemon hears it', () => first.noise[0]);
    expect(first.noise).toEqual(['[1,2']);
    first.write('{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}\n');
    await until('the host hears it', () => host[0]);
    expect(host).toEqual([{ jsonrpc: '2.0', error: { code: -32700, message: 'no' } }]);
  });

  test('no line that is too long, and answers with an error', async () => {
    const { send, answer } = await startShim({ maxLineBytes: 200 });
    send(call(7, 'echo', { text: 'x'.repeat(300) }));
    expect((await answer(7)).error).toMatchObject({ code: -32600, data: { limit: 200 } });
  });
});

describe('when the daemon dies', () => {
  test('requests in flight fail with sent: maybe, and half a line is dropped', async () => {
    const { send, daemon, host, answer } = await startShim();
    send(call(1, 'a'), call('1', 'b'));
    const first = await daemon(1);
    await until('the first daemon hears it', () => first.lines[1]);
    first.write('{"jsonrpc":"2.0","id":1,"result":{"content":[');
    first.die();
    expect([(await answer(1)).error, (await answer('1')).error]).toEqual([LOST, LOST]);
    expect(host).toHaveLength(2);
  });

  test('the shim attaches with the next request, and repeats nothing for a modern host', async () => {
    const { send, daemon, daemons, answer } = await startShim();
    send(call(1, 'a'));
    const first = await daemon(1);
    await until('the first daemon hears it', () => first.lines[0]);
    first.die();
    await answer(1);
    expect(daemons).toHaveLength(1);
    send(call(2, 'b'));
    const second = await daemon(2);
    await until('the second daemon hears it', () => second.lines[0]);
    expect(second.lines.map(({ id }) => id)).toEqual([2]);
  });

  test('the session of a legacy host is opened again, and the host does not notice', async () => {
    const { send, first, loseFirst, daemon, host, answer } = await openSession();
    send({ jsonrpc: '2.0', id: 2, method: 'logging/setLevel', params: { level: 'error' } });
    await heard(first.lines, 'logging/setLevel');
    first.say(result(2));
    await answer(2);
    await loseFirst();
    send(legacyCall(3, 'echo'));
    const second = await daemon(2);
    const again = await heard(second.lines, 'initialize');
    expect(again.params).toEqual((initialize(0) as { params: object }).params);
    // Nothing else leaves before it is answered.
    expect(second.lines).toHaveLength(1);
    second.say(result(again.id, { protocolVersion: '2025-11-25' }));
    await heard(second.lines, 'tools/call');
    expect(second.lines.slice(1).map(({ method, params }) => [method, params])).toEqual([
      ['notifications/initialized', undefined],
      ['logging/setLevel', { level: 'error' }],
      ['tools/call', { name: 'echo', arguments: {} }],
    ]);
    second.say(result(second.lines[2]!.id), result(3));
    await answer(3);
    expect(host.map(({ id }) => id)).toEqual(['init', 2, 'lost', 3]);
  });

  test('the shim attaches again by itself for subscriptions, without cancelled ones', async () => {
    const { send, first, daemon, answer } = await openSession();
    const subscribe = (id: number, verb: string, uri: string) => ({
      ...{ jsonrpc: '2.0', id, method: `resources/${verb}`, params: { uri } },
    });
    send(
      subscribe(2, 'subscribe', 'a:1'),
      subscribe(3, 'subscribe', 'a:2'),
      subscribe(4, 'unsubscribe', 'a:1'),
    );
    await heard(first.lines, 'resources/unsubscribe');
    first.say(result(2), result(3), result(4));
    await answer(4);
    first.die();
    const second = await daemon(2);
    second.say(result((await heard(second.lines, 'initialize')).id));
    expect((await heard(second.lines, 'resources/subscribe')).params).toEqual({ uri: 'a:2' });
    expect(second.lines.filter(({ method }) => method === 'resources/subscribe')).toHaveLength(1);
  });

  test('a handshake that was not answered is made with the next one, and refused after three', async () => {
    const { send, daemon, answer } = await startShim();
    send(initialize(1));
    for (const number of [1, 2, 3]) {
      const each = await daemon(number);
      expect((await heard(each.lines, 'initialize')).id).toBe(1);
      each.die();
    }
    expect((await answer(1)).error).toEqual(LOST);
  });

  test('a session that cannot be opened again fails with the reason, and the next request tries again', async () => {
    const { send, loseFirst, daemon, answer } = await openSession();
    await loseFirst();
    send(legacyCall(2, 'echo'));
    const second = await daemon(2);
    const { id } = await heard(second.lines, 'initialize');
    second.say({ jsonrpc: '2.0', id, error: { code: -32603, message: 'weather stopped' } });
    expect((await answer(2)).error).toEqual({ code: -32603, message: 'weather stopped' });
    send(legacyCall(3, 'echo'));
    await heard((await daemon(3)).lines, 'initialize');
  });

  test('its questions are cancelled, and a late answer goes to no other question', async () => {
    const { send, first, daemon, host, answer } = await openSession();
    const question = { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: { message: 'first' } };
    first.say(question);
    await heard(host, 'elicitation/create');
    first.die();
    expect((await heard(host, 'notifications/cancelled')).params).toMatchObject({ requestId: 1 });
    send(legacyCall(2, 'ask'));
    const second = await daemon(2);
    second.say(result((await heard(second.lines, 'initialize')).id));
    await heard(second.lines, 'tools/call');
    second.say({ ...question, params: { message: 'second' } });
    const asked = await until('the host hears it', () =>
      host.find(({ params }) => params?.['message'] === 'second'),
    );
    expect(asked.id).not.toBe(1);
    send(result(1, { action: 'decline' }), result(asked.id, { action: 'accept' }));
    const answered = await until('the second daemon hears it', () =>
      second.lines.find(({ result: given }) => given !== undefined),
    );
    expect(answered).toEqual(result(1, { action: 'accept' }));
    second.say({ jsonrpc: '2.0', id: 3, method: 'ping' });
    const ping = await heard(host, 'ping');
    second.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } });
    await until('the host hears it', () => host.find(({ params }) => params?.['requestId'] === ping.id));
    second.say(result(2));
    await answer(2);
  });

  test('what was cancelled gets no answer', async () => {
    const { send, daemon, host, answer } = await startShim();
    send(call(1, 'a'), call(2, 'b'));
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    const first = await daemon(1);
    await heard(first.lines, 'notifications/cancelled');
    first.die();
    expect((await answer(2)).error).toEqual(LOST);
    expect(host.map(({ id }) => id)).toEqual([2]);
  });
});

describe('without a daemon', () => {
  test('every request is answered with the reason, and the next request tries again', async () => {
    let attempts = 0;
    const attach = async () => {
      attempts += 1;
      throw new IsthmusError('CANNOT_START', 'no room', { sent: 'no', stderrTail: 'disk full' });
    };
    const { send, answer, troubles, shim, input } = await startShim({ attach });
    send(initialize(1));
    const refused = {
      code: -32603,
      message: 'no room',
      data: { reason: 'CANNOT_START', sent: 'no', stderrTail: 'disk full' },
    };
    expect((await answer(1)).error).toEqual(refused);
    const before = attempts;
    send(INITIALIZED, call(2, 'a'));
    expect((await answer(2)).error).toEqual(refused);
    expect(attempts).toBe(before + 1);
    expect(troubles).toHaveLength(attempts);
    input.end();
    expect(await shim.ended).toEqual({ wasAttached: false });
  });

  test('D-14: a daemon that shows no sign of life is given up, and its requests fail', async () => {
    const clock = new FakeClock();
    let isAlive = true;
    const { send, daemon, host, answer } = await startShim({ clock, isAlive: async () => isAlive });
    send(call(1, 'a'));
    const first = await daemon(1);
    await until('the first daemon hears it', () => first.lines[0]);
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 15_000) {
        clock.advance(15_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await pass(300_000);
    expect(host).toEqual([]);
    isAlive = false;
    await pass(30_000);
    expect((await answer(1)).error).toEqual(LOST);
  });
});

describe('when the host closes its end', () => {
  test('the shim waits for the answers that are due, and ends with the last', async () => {
    const { send, input, daemon, shim, host } = await startShim();
    send(call(1, 'a'));
    const first = await daemon(1);
    await until('the first daemon hears it', () => first.lines[0]);
    input.end();
    first.say(result(1));
    expect(await shim.ended).toEqual({ wasAttached: true });
    expect(host).toEqual([result(1)]);
    await first.closed;
  });

  test('it ends at once when none is due', async () => {
    const { input, daemon, shim } = await startShim();
    await daemon(1);
    input.end();
    expect(await shim.ended).toEqual({ wasAttached: true });
  });

  test('it waits for a bounded time', async () => {
    const { send, input, daemon, shim } = await startShim({ graceMs: 50 });
    send(call(1, 'a'));
    const first = await daemon(1);
    await until('the first daemon hears it', () => first.lines[0]);
    input.end();
    expect(await shim.ended).toEqual({ wasAttached: true });
  });
});
