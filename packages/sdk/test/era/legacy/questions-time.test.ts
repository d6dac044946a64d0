import { describe, expect, it } from 'vitest';
import { begin, declined, Person, session, settle, toolCall } from '../../support/legacy-session.js';

/** Time of a call stands still while its owner is asked, and until the server can have the answer. */

/** Ada is asked by what is known to ask again, and thinks; Bob’s call, which may ask just now, runs meanwhile. */
async function thinking() {
  const it = session();
  const [ada, bob] = [new Person(), new Person()];
  const [adas, bobs] = [it.join(ada.answers), it.join(bob.answers)];
  const before = begin(adas, toolCall('wizard'));
  const first = it.request();
  for (const id of ['a', 'b']) {
    it.elicit([id]);
    ada.decline();
    await settle();
  }
  it.done(first);
  await before.settled;
  it.said();
  const over = new AbortController();
  const wizard = begin(adas, toolCall('wizard', { signal: over.signal }));
  const id = it.request();
  it.elicit(['q']);
  it.clock.advance(50);
  it.clock.advance(20_000);
  const echo = begin(bobs, toolCall('wizard', { timeoutMs: 60_000 }));
  const echoId = it.request();
  return { ...it, ada, bob, adas, bobs, over, wizard, id, echo, echoId };
}

describe('the time of a call', () => {
  it('stands still while its owner thinks, and while the answer cannot be given yet', async () => {
    const it = await thinking();
    it.ada.decline();
    await settle();
    expect(it.said()).toEqual([]);
    it.clock.advance(1999);
    await settle();
    expect(it.wizard.outcome).toBe('none yet');
    it.done(it.echoId);
    await settle();
    expect(it.said()).toEqual([declined('q')]);
    it.clock.advance(999);
    await settle();
    expect(it.wizard.outcome).toBe('none yet');
    it.clock.advance(1);
    await settle();
    expect(it.wizard.outcome).toBe('TIMED_OUT');
  });

  it('runs for everybody else', async () => {
    const it = await thinking();
    it.ada.decline();
    await settle();
    it.clock.advance(1500);
    await settle();
    expect(it.wizard.outcome).toBe('none yet');
    expect(it.said()).toEqual([]);
    it.takeBack('q');
    it.clock.advance(58_500);
    await settle();
    expect(it.echo.outcome).toBe('TIMED_OUT');
  });

  it('goes on when the question is taken back, also when whoever was asked does not notice', async () => {
    const it = await thinking();
    it.takeBack('q');
    expect(it.ada.signals.at(-1)?.aborted).toBe(true);
    expect(it.adas.isAsked(toolCall('x'))).toBe(false);
    it.clock.advance(1000);
    await settle();
    expect(it.wizard.outcome).toBe('TIMED_OUT');
  });

  it('goes on when the question is taken back while its answer waits, which is not given then', async () => {
    const it = await thinking();
    it.ada.decline();
    await settle();
    expect(it.adas.isAsked(toolCall('x'))).toBe(true);
    it.takeBack('q');
    await settle();
    expect(it.adas.isAsked(toolCall('x'))).toBe(false);
    it.done(it.echoId);
    await settle();
    expect(it.said()).toEqual([]);
    it.clock.advance(1000);
    await settle();
    expect(it.wizard.outcome).toBe('TIMED_OUT');
  });

  it('stands still for a call that is made while its owner thinks, as soon as that is asked about it', async () => {
    const it = await thinking();
    it.done(it.echoId);
    await it.echo.settled;
    const nested = begin(it.adas, toolCall('nested'));
    it.said();
    it.clock.advance(400);
    it.elicit(['nested']);
    it.clock.advance(20_000);
    await settle();
    expect(nested.outcome).toBe('none yet');
    it.ada.decline();
    it.ada.decline();
    await settle();
    it.clock.advance(600);
    await settle();
    expect(nested.outcome).toBe('TIMED_OUT');
  });
});

describe('a call that waits for its answer to be given', () => {
  it('can be cancelled: the server has the answer at once, and nobody waits for it any more', async () => {
    const it = await thinking();
    it.ada.decline();
    await settle();
    it.over.abort();
    await settle();
    expect(it.wizard.outcome).toBe('CANCELLED');
    expect(it.said()).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: it.id, reason: 'tools/call was cancelled' },
      },
      declined('q'),
    ]);
    expect(it.adas.isAsked(toolCall('x'))).toBe(false);
    begin(it.bobs, toolCall('echo'));
    expect(it.said()).toHaveLength(1);
  });

  it('ends with its voice: the question is refused, the call cancelled, and others go on', async () => {
    const it = await thinking();
    it.ada.decline();
    await settle();
    it.adas.leave('it left');
    await settle();
    expect(it.wizard.outcome).toBe('CANCELLED');
    expect(it.said()).toEqual([
      {
        jsonrpc: '2.0',
        id: 'q',
        error: { code: -32603, message: 'The client that was asked has left: it left' },
      },
      {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: it.id, reason: 'it left' },
      },
    ]);
    it.done(it.echoId);
    await settle();
    expect(it.echo.outcome).toBe('done');
    begin(it.bobs, toolCall('wizard'));
    expect(it.said()).toHaveLength(1);
  });

  it('ends with the connection, quietly', async () => {
    const it = await thinking();
    it.ada.decline();
    await settle();
    it.end();
    await settle();
    expect([it.wizard.outcome, it.echo.outcome]).toEqual(['CONNECTION_CLOSED', 'CONNECTION_CLOSED']);
    expect(it.said()).toEqual([]);
    expect(it.clock.waiting).toBe(0);
  });

  it('does not keep its owner from making calls', async () => {
    const it = await thinking();
    it.ada.decline();
    await settle();
    const nested = begin(it.adas, toolCall('nested'));
    it.done(it.request());
    await nested.settled;
    expect(nested.outcome).toBe('done');
  });
});

describe('a question that is taken back while a person thinks', () => {
  it('leaves a call whose next question does not reach somebody else', async () => {
    const it = await thinking();
    it.takeBack('q');
    it.elicit(['next']);
    await settle();
    it.clock.advance(1000);
    await settle();
    expect(it.bob.asked).toEqual([]);
    it.clock.advance(1000);
    await settle();
    expect(it.bob.asked).toEqual([]);
  });
});

describe('a call that was over before it began', () => {
  it.each(['queue', 'adaptive'] as const)(
    '%s: has no turn that others would have to wait for',
    async (policy) => {
      const it = session(policy);
      const ada = new Person();
      const call = begin(it.join(ada.answers), toolCall('x', { signal: AbortSignal.abort() }));
      await call.settled;
      expect(call.outcome).toBe('CANCELLED');
      const bob = new Person();
      begin(it.join(bob.answers), toolCall('x'));
      expect(it.said()).toHaveLength(1);
      it.elicit(['q']);
      expect([ada.asked, bob.asked]).toEqual([[], ['question q']]);
    },
  );
});
