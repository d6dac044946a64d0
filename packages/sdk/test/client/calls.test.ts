import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { connect, createServer, type LogEntry, memory, type ProgressUpdate } from '../../src/index.js';
import {
  collectDropped,
  type Era,
  FIRST,
  failure,
  frame,
  meet,
  progress,
  settle,
  welcome,
} from '../support/client/played-server.js';

const ERAS: readonly Era[] = ['modern', 'legacy'];

describe.each(ERAS)('a call to a %s server', (era) => {
  describe('and its time', () => {
    it('times out, takes the call back, and ignores the late answer (CANC-009, CANC-013)', async () => {
      const clock = new FakeClock();
      const dropped = collectDropped();
      const { client, server } = await meet(era, { clock });
      const calling = failure(client.callTool('slow', {}, { timeoutMs: 100 }));
      const sent = await server.next();
      clock.advance(99);
      expect(await server.rest()).toEqual([]);
      clock.advance(1);
      expect(await calling).toMatchObject({ code: 'TIMED_OUT', sent: 'maybe' });
      expect(await server.rest()).toEqual([
        {
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: { requestId: sent.id, reason: expect.stringContaining('100 ms') },
        },
      ]);
      server.answer(sent, { content: [] });
      await settle();
      expect(dropped.map(({ why }) => why)).toEqual(['an answer to no open request']);
    });

    it('has the time of the client when the call names none', async () => {
      const clock = new FakeClock();
      const { client, server } = await meet(era, { clock, timeoutMs: 70 });
      const calling = failure(client.callTool('slow'));
      await server.next();
      clock.advance(70);
      expect(await calling).toMatchObject({ code: 'TIMED_OUT' });
    });

    it('has a minute by default', async () => {
      const clock = new FakeClock();
      const { client, server } = await meet(era, { clock });
      let over = false;
      const calling = failure(client.callTool('slow')).finally(() => {
        over = true;
      });
      await server.next();
      clock.advance(59_999);
      await settle();
      expect(over).toBe(false);
      clock.advance(1);
      expect(await calling).toMatchObject({ code: 'TIMED_OUT' });
    });

    it('is extended by progress up to maxTimeoutMs in all (CANC-015)', async () => {
      const clock = new FakeClock();
      const { client, server } = await meet(era, { clock });
      let over = false;
      const calling = failure(
        client.callTool('slow', {}, { timeoutMs: 100, maxTimeoutMs: 250, onProgress: () => {} }),
      ).finally(() => {
        over = true;
      });
      const { id } = await server.next();
      for (const value of [1, 2]) {
        clock.advance(80);
        server.send(progress(id, value));
        await settle();
      }
      clock.advance(80);
      server.send(progress(id, 3));
      await settle();
      expect(over).toBe(false);
      clock.advance(9);
      await settle();
      expect(over).toBe(false);
      clock.advance(1);
      expect(await calling).toMatchObject({ code: 'TIMED_OUT' });
    });

    it('is not extended by progress without maxTimeoutMs', async () => {
      const clock = new FakeClock();
      const { client, server } = await meet(era, { clock });
      const calling = failure(client.callTool('slow', {}, { timeoutMs: 100, onProgress: () => {} }));
      const { id } = await server.next();
      clock.advance(80);
      server.send(progress(id, 1));
      await settle();
      clock.advance(20);
      expect(await calling).toMatchObject({ code: 'TIMED_OUT' });
    });

    it('asks for progress when progress may extend it, even without a listener', async () => {
      const { client, server } = await meet(era);
      void client.callTool('slow', {}, { timeoutMs: 100, maxTimeoutMs: 1000 }).catch(() => {});
      expect(await server.next()).toEqual(
        frame(
          era,
          FIRST,
          'tools/call',
          { name: 'slow', arguments: {} },
          {
            progressToken: FIRST,
          },
        ),
      );
    });

    it('never takes longer than maxTimeoutMs, however long timeoutMs is', async () => {
      const clock = new FakeClock();
      const { client, server } = await meet(era, { clock });
      const calling = failure(client.callTool('slow', {}, { maxTimeoutMs: 500 }));
      await server.next();
      clock.advance(500);
      expect(await Promise.race([calling, settle().then(() => 'still waiting')])).toMatchObject({
        code: 'TIMED_OUT',
      });
    });

    it('leaves no timer behind when it was answered', async () => {
      const clock = new FakeClock();
      const { client, server } = await meet(era, { clock });
      const before = clock.waiting;
      const calling = client.callTool('quick');
      server.answer(await server.next(), { content: [] });
      await calling;
      expect(clock.waiting).toBe(before);
    });
  });

  describe('and its signal', () => {
    it('is taken back on abort, with an error that is not a timeout (CANC-001, CANC-006)', async () => {
      const { client, server } = await meet(era);
      const abort = new AbortController();
      const calling = failure(client.callTool('slow', {}, { signal: abort.signal }));
      const sent = await server.next();
      const reason = new Error('the user went home');
      abort.abort(reason);
      const error = await calling;
      expect(error).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
      expect(error.cause).toBe(reason);
      expect(await server.rest()).toEqual([
        {
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: { requestId: sent.id, reason: expect.any(String) },
        },
      ]);
    });

    it('is not sent at all when the signal was aborted before', async () => {
      const { client, server } = await meet(era);
      const calling = client.callTool('slow', {}, { signal: AbortSignal.abort() });
      expect(await failure(calling)).toMatchObject({ code: 'CANCELLED', sent: 'no' });
      expect(await server.rest()).toEqual([]);
    });

    it('is not touched by an abort after the answer', async () => {
      const { client, server } = await meet(era);
      const abort = new AbortController();
      const calling = client.callTool('quick', {}, { signal: abort.signal });
      server.answer(await server.next(), { content: [] });
      await calling;
      abort.abort();
      expect(await server.rest()).toEqual([]);
    });

    it('stops a walk through pages', async () => {
      const { client, server } = await meet(era);
      const abort = new AbortController();
      const listing = failure(client.listTools({ signal: abort.signal }));
      server.answer(await server.next(), { tools: [], nextCursor: '2' });
      const second = await server.next();
      abort.abort();
      expect(await listing).toMatchObject({ code: 'CANCELLED' });
      expect(await server.rest()).toMatchObject([
        { method: 'notifications/cancelled', params: { requestId: second.id } },
      ]);
    });

    it('is heard while the client is still reconnecting', async () => {
      const clock = new FakeClock();
      const { client, server, connector } = await meet(era, { clock });
      server.vanish();
      await settle();
      const abort = new AbortController();
      const calling = failure(client.callTool('t', {}, { signal: abort.signal }));
      await connector.accept(); // and never says a word
      await settle();
      abort.abort();
      expect(await Promise.race([calling, settle().then(() => 'still waiting')])).toMatchObject({
        code: 'CANCELLED',
        sent: 'no',
      });
      clock.advance(60_000);
    });
  });

  describe('and its reports', () => {
    it('asks for progress with a token of its own and hands it over (PROG-001, PROG-002)', async () => {
      const { client, server } = await meet(era);
      const seen: Record<string, ProgressUpdate[]> = { a: [], b: [] };
      const calls = ['a', 'b'].map((name) =>
        client.callTool(name, {}, { onProgress: (update) => seen[name]!.push(update) }),
      );
      const first = await server.next();
      const second = await server.next();
      expect(first).toEqual(
        frame(era, 1, 'tools/call', { name: 'a', arguments: {} }, { progressToken: first.id }),
      );
      expect(second.params?.['_meta']).toMatchObject({ progressToken: second.id });
      expect(first.id).not.toEqual(second.id);
      server.send(
        progress(second.id, 0),
        progress(first.id, 1, { total: 2, message: 'half' }),
        progress(first.id, 2, { total: 2 }),
      );
      server.answer(first, { content: [] });
      server.answer(second, { content: [] });
      await Promise.all(calls);
      expect(seen).toEqual({
        a: [
          { progress: 1, total: 2, message: 'half' },
          { progress: 2, total: 2 },
        ],
        b: [{ progress: 0 }],
      });
    });

    it('drops progress after the answer', async () => {
      const dropped = collectDropped();
      const { client, server } = await meet(era);
      const seen: ProgressUpdate[] = [];
      const calling = client.callTool('t', {}, { onProgress: (update) => seen.push(update) });
      const { id } = await server.next();
      server.send({ id, result: { content: [] } }, progress(id, 1));
      await calling;
      await settle();
      expect(seen).toEqual([]);
      expect(dropped).toHaveLength(1);
    });

    it('survives an onProgress and an onLog that throw', async () => {
      const bug = () => {
        throw new Error('a bug of the caller');
      };
      const { client, server } = await meet(era, { onLog: bug });
      const calling = client.callTool('t', {}, { onProgress: bug, onLog: bug, logLevel: 'info' });
      calling.catch(() => {});
      const { id } = await server.next();
      const log = { method: 'notifications/message', params: { level: 'info', data: 1 } };
      expect(() => server.send(progress(id, 1), log, { id, result: { content: [] } }, log)).not.toThrow();
      expect(await Promise.race([calling, settle().then(() => 'still waiting')])).toEqual({ content: [] });
    });

    it('gets the logs while it is the only one that wants them; the rest goes to the client', async () => {
      const general: LogEntry[] = [];
      const mine: LogEntry[] = [];
      const { client, server } = await meet(era, { onLog: (entry) => general.push(entry) });
      const log = (data: unknown) => ({
        method: 'notifications/message',
        params: { level: 'warning', data, logger: 'l' },
      });
      server.send(log('before'));
      await settle();
      const one = client.callTool('a', {}, { onLog: (entry) => mine.push(entry), logLevel: 'info' });
      const first = await server.next();
      server.send(log('mine'));
      await settle();
      const two = client.callTool('b', {}, { onLog: (entry) => mine.push(entry), logLevel: 'info' });
      const second = await server.next();
      server.send(log('whose?'));
      server.answer(first, { content: [] });
      server.answer(second, { content: [] });
      await Promise.all([one, two]);
      expect(mine).toEqual([{ level: 'warning', data: 'mine', logger: 'l' }]);
      expect(general.map(({ data }) => data)).toEqual(['before', 'whose?']);
    });

    it('gets logs from our own server', async () => {
      const server = createServer({ name: 'own', version: '1' });
      server.tool('work', {}, (_args, ctx) => {
        ctx.log('info', 'started');
        ctx.progress(1, 2, 'half');
        return 'done';
      });
      await using client = await connect(memory(server), { mode: era, cache: false });
      const logs: LogEntry[] = [];
      const updates: ProgressUpdate[] = [];
      await client.callTool(
        'work',
        {},
        {
          logLevel: 'debug',
          onLog: (entry) => logs.push(entry),
          onProgress: (update) => updates.push(update),
        },
      );
      expect(logs).toEqual([{ level: 'info', data: 'started' }]);
      expect(updates).toEqual([{ progress: 1, total: 2, message: 'half' }]);
    });
  });

  describe('and what became of it', () => {
    it('may have been sent when the connection is lost, and is not sent again', async () => {
      const { client, server, connector } = await meet(era);
      const calling = failure(client.callTool('t'));
      await server.next();
      server.vanish();
      expect(await calling).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'maybe' });
      await settle();
      expect(connector.unplayed).toBe(0);
    });

    it('opens a fresh connection for the next call, in the era that is known', async () => {
      const { client, server, connector } = await meet(era);
      server.vanish();
      await settle();
      const calling = client.callTool('again');
      const fresh = await connector.accept();
      const opening = await welcome(era, fresh);
      expect(opening.method).toBe(era === 'modern' ? 'server/discover' : 'initialize');
      const sent = await fresh.next();
      expect(sent).toEqual(frame(era, 1, 'tools/call', { name: 'again' }));
      fresh.answer(sent, { content: [] });
      expect(await calling).toEqual({ content: [] });
    });

    it('sets the log level of the session again on a fresh connection', async () => {
      const { client, server, connector } = await meet(era);
      const setting = client.setLogLevel('error');
      if (era === 'legacy') server.answer(await server.next(), {});
      await setting;
      server.vanish();
      await settle();
      const calling = client.callTool('again');
      const fresh = await connector.accept();
      await welcome(era, fresh);
      const first = await fresh.next();
      if (era === 'legacy') {
        expect(first).toEqual(frame(era, 1, 'logging/setLevel', { level: 'error' }));
        fresh.answer(first, {});
        fresh.answer(await fresh.next(), { content: [] });
      } else {
        expect(first.params?.['_meta']).toMatchObject({ 'io.modelcontextprotocol/logLevel': 'error' });
        fresh.answer(first, { content: [] });
      }
      await calling;
    });

    it('is not lost to a fresh connection that refuses the log level', async () => {
      if (era === 'modern') return;
      const { client, server, connector } = await meet(era);
      const setting = client.setLogLevel('error');
      server.answer(await server.next(), {});
      await setting;
      server.vanish();
      await settle();
      const calling = client.callTool('again');
      calling.catch(() => {});
      const fresh = await connector.accept();
      await welcome(era, fresh);
      fresh.refuse(await fresh.next(), -32601, 'no logging today');
      const sent = await fresh.next();
      expect(sent).toMatchObject({ method: 'tools/call' });
      fresh.answer(sent, { content: [] });
      expect(await calling).toEqual({ content: [] });
    });

    it('opens one connection for many calls', async () => {
      const { client, server, connector } = await meet(era);
      server.vanish();
      await settle();
      const calls = ['a', 'b', 'c'].map((name) => client.callTool(name));
      const fresh = await connector.accept();
      await welcome(era, fresh);
      for (const _call of calls) fresh.answer(await fresh.next(), { content: [] });
      await Promise.all(calls);
      expect(connector.unplayed).toBe(0);
    });

    it('was not sent when there is no connection and none may be opened', async () => {
      const { client, server, connector } = await meet(era, { reconnect: false });
      server.vanish();
      await client.closed;
      const error = await failure(client.callTool('t'));
      expect(error).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
      expect(error.message).toContain('lost');
      expect(connector.unplayed).toBe(0);
    });

    it('was not sent when its arguments cannot be written as JSON', async () => {
      const { client, server } = await meet(era);
      const calling = client.callTool('t', { n: 1n });
      expect(await failure(calling)).toMatchObject({ code: 'NOT_ENCODABLE', sent: 'no' });
      expect(await server.rest()).toEqual([]);
    });
  });
});

describe('logs of a modern server', () => {
  const log = { method: 'notifications/message', params: { level: 'info', data: 'x' } };

  it('come with onLog alone: a caller that passes it wants logs', async () => {
    const { client, server } = await meet('modern');
    void client.callTool('t', {}, { onLog: () => {} }).catch(() => {});
    expect((await server.next()).params?.['_meta']).toHaveProperty('io.modelcontextprotocol/logLevel');
  });

  it('do not go to a call that asked for none while another did', async () => {
    const general: LogEntry[] = [];
    const mine: LogEntry[] = [];
    const { client, server } = await meet('modern', { onLog: (entry) => general.push(entry) });
    const silent = client.callTool('silent', {}, { logLevel: 'info' });
    const first = await server.next();
    const loud = client.callTool('loud', {}, { onLog: (entry) => mine.push(entry), logLevel: 'info' });
    const second = await server.next();
    server.send(log);
    server.answer(first, { content: [] });
    server.answer(second, { content: [] });
    await Promise.all([silent, loud]);
    // Two calls asked for logs; the line does not say whose it is (wire sheet §9).
    expect([mine, general]).toEqual([[], [{ level: 'info', data: 'x' }]]);
  });
});
