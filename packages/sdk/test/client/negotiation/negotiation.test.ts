import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { createDeferred } from '../../../src/async/deferred.js';
import { failure, isSettled, openClient, settle, textOf, until } from '../../support/client/open-client.js';
import {
  answerCalls,
  DISCOVERED,
  legacyScript,
  methods,
  modernScript,
  type Script,
  type ScriptedConnection,
  scripted,
  WELCOME,
  type Wire,
} from '../../support/client/scripted-server.js';

const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** Discover is answered with an error, the rest is legacy. */
function refusesDiscover(code: number, data?: unknown): Script {
  return (message, connection) => {
    if (message.method === 'server/discover') connection.error(message, code, data);
    else legacyScript(message, connection);
  };
}

describe('auto', () => {
  test('asks server/discover first, with the preferred version and the whole envelope (VER-014, DISC-002, DISC-007)', async () => {
    const server = scripted(modernScript);
    const client = await openClient(server, { info: { name: 'me', version: '3' } });
    expect(server.connections[0]!.received).toEqual([
      {
        id: expect.any(Number),
        method: 'server/discover',
        params: {
          _meta: {
            [VERSION]: '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'me', version: '3' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
    ]);
    expect(client.verdict).toEqual({
      era: 'modern',
      revision: '2026-07-28',
      why: expect.stringContaining('server/discover'),
      evidence: [expect.stringContaining('result')],
      discovery: [{ kind: 'result' }],
      ms: expect.any(Number),
      supported: ['2026-07-28'],
      source: 'probe',
    });
    expect(client.server).toEqual({
      info: { name: 'scripted', version: '1' },
      capabilities: { tools: {} },
      instructions: 'be kind',
    });
  });

  test('speaks modern to a modern server: the envelope on every call, never initialize (VER-010)', async () => {
    const server = scripted(modernScript);
    const client = await openClient(server);
    expect(textOf(await client.callTool('a'))).toBe('a');
    expect(methods(server.connections[0])).toEqual(['server/discover', 'tools/call']);
    expect(server.connections[0]!.received[1]!.params._meta[VERSION]).toBe('2026-07-28');
  });

  test.each([-32601, -32602, -32600, -32700, -32603, -32000, -32001, -32002, 1, -1])(
    'takes error %i for a legacy server and uses it on the same connection (VER-015)',
    async (code) => {
      const server = scripted(refusesDiscover(code, { supported: ['2026-07-28'] }));
      const client = await openClient(server);
      expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-11-25', source: 'probe' });
      expect(client.verdict.why).toContain(String(code));
      expect(textOf(await client.callTool('a'))).toBe('a');
      expect(server.connections).toHaveLength(1);
      expect(methods(server.connections[0])).toEqual([
        'server/discover',
        'initialize',
        'notifications/initialized',
        'tools/call',
      ]);
      // No envelope on legacy calls.
      expect(server.connections[0]!.received[3]!.params).toEqual({ name: 'a' });
    },
  );

  test.each([undefined, null])(
    'takes an error with id %j for the answer at once, not after a silence (VER-015)',
    async (id) => {
      const clock = new FakeClock();
      const server = scripted((message, connection) => {
        if (message.method === 'server/discover') {
          connection.send({ jsonrpc: '2.0', id, error: { code: -32600, message: 'what?' } });
        } else legacyScript(message, connection);
      });
      const client = await openClient(server, { clock });
      expect(client.verdict).toMatchObject({ era: 'legacy', ms: 0 });
      expect(client.verdict.evidence).toEqual([expect.stringContaining('without id')]);
    },
  );

  test('a result that is not a DiscoverResult means legacy', async () => {
    const server = scripted((message, connection) => {
      if (message.method === 'server/discover') connection.result(message, { ok: true });
      else legacyScript(message, connection);
    });
    expect((await openClient(server)).era).toBe('legacy');
  });

  test('offers the newest legacy revision and takes any known one that the server prefers', async () => {
    for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      const server = scripted((message, connection) => {
        if (message.method === 'server/discover') connection.error(message, -32601);
        else if (message.method === 'initialize')
          connection.result(message, { ...WELCOME, protocolVersion: revision });
      });
      const client = await openClient(server);
      expect(client.revision).toBe(revision);
      expect(server.connections[0]!.received[1]!.params).toMatchObject({
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: expect.any(String), version: expect.any(String) },
      });
    }
  });

  test.each(['2026-07-28', '2099-01-01', '', undefined])(
    'refuses a handshake that settles on %j, names both and closes (VER-008)',
    async (revision) => {
      const server = scripted((message, connection) => {
        if (message.method === 'server/discover') connection.error(message, -32601);
        else if (message.method === 'initialize')
          connection.result(message, { ...WELCOME, protocolVersion: revision });
      });
      const error = await failure(openClient(server));
      expect(error).toMatchObject({ code: 'NO_COMMON_REVISION' });
      expect(error.message).toContain('scripted');
      expect(error.message).toContain('2025-11-25');
      await until('closed', () => !server.connections[0]!.isOpen());
      expect(methods(server.connections[0])).not.toContain('notifications/initialized');
    },
  );

  test.each([-32602, -32000])(
    'a handshake that is refused (%i) with a list of older revisions is offered again in the newest of them',
    async (code) => {
      const server = scripted((message, connection) => {
        const supported = ['2024-11-05', '2025-03-26'];
        if (message.method === 'server/discover') connection.error(message, -32601);
        else if (message.method === 'initialize' && !supported.includes(message.params.protocolVersion))
          connection.error(message, code, { supported, requested: message.params.protocolVersion });
        else if (message.method === 'initialize')
          connection.result(message, { ...WELCOME, protocolVersion: message.params.protocolVersion });
      });
      const client = await openClient(server);
      expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-03-26' });
      expect(server.connections).toHaveLength(1);
    },
  );

  test('-32022 with our version in the list: asked once more, then modern, never initialize (VER-002, VER-010)', async () => {
    let asked = 0;
    const server = scripted((message, connection) => {
      if (message.method === 'server/discover' && ++asked === 1)
        connection.error(message, -32022, { supported: ['2026-07-28'], requested: '2026-07-28' });
      else modernScript(message, connection);
    });
    const client = await openClient(server);
    expect(client.verdict).toMatchObject({ era: 'modern', source: 'probe' });
    expect(client.verdict.evidence).toEqual([
      expect.stringContaining('-32022'),
      expect.stringContaining('result'),
    ]);
    expect(methods(server.connections[0])).toEqual(['server/discover', 'server/discover']);
    const [first, second] = server.connections[0]!.received;
    expect(second!.id).not.toBe(first!.id);
  });

  test.each([
    [-32022, { supported: ['2026-07-28'] }],
    [-32022, { supported: ['2026-07-28', '2025-11-25'] }],
    [-32020, undefined],
    [-32021, { requiredCapabilities: { sampling: {} } }],
  ])(
    'a modern server that always refuses with %i is given up after one retry, without initialize (VER-010)',
    async (code, data) => {
      const server = scripted((message, connection) => connection.error(message, code, data));
      const error = await failure(openClient(server));
      expect(error).toMatchObject({ code: 'NO_COMMON_REVISION' });
      expect(methods(server.connections[0])).toEqual(['server/discover', 'server/discover']);
      expect(server.connections).toHaveLength(1);
    },
  );

  test.each([
    ['is silent', () => {}, 'NO_COMMON_REVISION'],
    ['answers with -32601', (message, connection) => connection.error(message, -32601), 'NO_COMMON_REVISION'],
    ['answers with {}', (message, connection) => connection.result(message, {}), 'NO_COMMON_REVISION'],
    ['ends', (_message, connection) => connection.close(), 'CONNECTION_CLOSED'],
  ] satisfies [string, Script, string][])(
    'a modern server that refuses with -32022 and then %s is not spoken to as legacy (VER-010)',
    async (_how, then, code) => {
      let asked = 0;
      const server = scripted((message, connection) => {
        if (++asked === 1) connection.error(message, -32022, { supported: ['2026-07-28'] });
        else if (message.method === 'server/discover') then(message, connection);
        else legacyScript(message, connection);
      });
      const error = await failure(openClient(server, { silenceMs: 20, connectTimeoutMs: 300 }));
      expect(error).toMatchObject({ code });
      expect(methods(server.connections[0])).toEqual(['server/discover', 'server/discover']);
      expect(server.connections).toHaveLength(1);
    },
  );

  test('a modern server that refuses with -32022 may be slow with its next answer (VER-010)', async () => {
    const clock = new FakeClock();
    const later = createDeferred<void>();
    let asked = 0;
    const server = scripted((message, connection) => {
      if (++asked === 1) connection.error(message, -32022, { supported: ['2026-07-28'] });
      else if (asked === 2) void later.promise.then(() => modernScript(message, connection));
      else modernScript(message, connection);
    });
    const opening = openClient(server, { clock });
    await until('it has asked twice', () => asked === 2);
    clock.advance(5000);
    await settle();
    later.resolve();
    expect((await opening).verdict).toMatchObject({ era: 'modern' });
    expect(methods(server.connections[0])).toEqual(['server/discover', 'server/discover']);
  });

  test('-32022 that names only foreign versions fails at once and names them (VER-002)', async () => {
    const server = scripted((message, connection) =>
      connection.error(message, -32022, { supported: ['2027-01-01'], requested: '2026-07-28' }),
    );
    const error = await failure(openClient(server));
    expect(error).toMatchObject({ code: 'NO_COMMON_REVISION' });
    expect(error.message).toContain('2027-01-01');
    expect(error.message).toContain('2026-07-28');
    expect(methods(server.connections[0])).toEqual(['server/discover']);
  });

  test.each([
    ['-32022', (message, connection) => connection.error(message, -32022, { supported: ['2025-06-18'] })],
    [
      'a DiscoverResult',
      (message, connection) =>
        connection.result(message, { ...DISCOVERED, supportedVersions: ['2025-06-18'] }),
    ],
  ] satisfies [string, Script][])(
    '%s whose only common version is legacy leads to initialize with that version',
    async (_how, script) => {
      const server = scripted((message, connection) => {
        if (message.method === 'server/discover') script(message, connection);
        else if (message.method === 'initialize')
          connection.result(message, { ...WELCOME, protocolVersion: message.params.protocolVersion });
      });
      const client = await openClient(server);
      expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-06-18' });
      expect(server.connections[0]!.received[1]!.params.protocolVersion).toBe('2025-06-18');
    },
  );

  test('a connection that ends on the probe is opened once more, and spoken to as legacy', async () => {
    const server = scripted((message, connection) => {
      if (message.method === 'server/discover') connection.close();
      else legacyScript(message, connection);
    });
    const client = await openClient(server);
    expect(client.verdict).toMatchObject({ era: 'legacy', source: 'probe' });
    expect(server.connections).toHaveLength(2);
    expect(methods(server.connections[1])).toEqual(['initialize', 'notifications/initialized']);
    expect(textOf(await client.callTool('a'))).toBe('a');
  });

  test('a connection that also ends on initialize is not opened a third time', async () => {
    const server = scripted((_message, connection) => connection.close());
    const error = await failure(openClient(server));
    expect(error).toMatchObject({ name: 'IsthmusError', code: 'CONNECTION_CLOSED' });
    expect(server.connections).toHaveLength(2);
  });

  test('an unknown error to initialize is reported, with its code and the server', async () => {
    const server = scripted((message, connection) => connection.error(message, -32603));
    const error = await failure(openClient(server));
    expect(error.message).toContain('-32603');
    expect(error.message).toContain('scripted');
  });
});

describe('a busy modern server that was taken for legacy, and names its versions when it refuses initialize', () => {
  const refusesLate =
    (second: (message: Wire, connection: ScriptedConnection) => void): Script =>
    (message, connection) => {
      if (message.method === 'initialize')
        connection.error(message, -32022, { supported: ['2026-07-28'], requested: '2025-11-25' });
      else if (message.method === 'server/discover') {
        const asked = connection.received.filter(({ method }) => method === 'server/discover').length;
        if (asked === 2) second(message, connection);
      } else answerCalls(message, connection);
    };

  test('is waited for when it is silent once more', async () => {
    const clock = new FakeClock();
    let late: (() => void) | undefined;
    const server = scripted(
      refusesLate((message, connection) => {
        late = () => connection.result(message, DISCOVERED);
      }),
    );
    const opening = openClient(server, { clock, silenceMs: 700 });
    await until('the probe', () => clock.waiting > 1);
    clock.advance(700);
    await until('the second probe', () => late !== undefined);
    clock.advance(700);
    late!();
    expect((await opening).verdict).toMatchObject({ era: 'modern', revision: '2026-07-28' });
  });

  test('that ends then is reported as ended, not as a server without a common revision', async () => {
    const clock = new FakeClock();
    const server = scripted(refusesLate((_, connection) => connection.close()));
    const opening = failure(openClient(server, { clock, silenceMs: 700 }));
    await until('the probe', () => clock.waiting > 1);
    clock.advance(700);
    expect(await opening).toMatchObject({ code: 'CONNECTION_CLOSED' });
  });
});

describe('silence', () => {
  const silentOnDiscover: Script = (message, connection) => {
    if (message.method !== 'server/discover') legacyScript(message, connection);
  };

  test('of a server that lives means legacy after silenceMs, on the same connection (VER-015)', async () => {
    const clock = new FakeClock();
    const server = scripted(silentOnDiscover);
    const opening = openClient(server, { clock, silenceMs: 700 });
    await settle();
    clock.advance(699);
    expect(await isSettled(opening)).toBe(false);
    expect(methods(server.connections[0])).toEqual(['server/discover']);
    clock.advance(1);
    const client = await opening;
    expect(client.verdict).toMatchObject({ era: 'legacy', source: 'probe', ms: 700 });
    expect(client.verdict.evidence).toEqual([expect.stringContaining('700 ms')]);
    expect(server.connections).toHaveLength(1);
  });

  test('is not counted before the first sign of life: a slow start does not mean legacy', async () => {
    const clock = new FakeClock();
    const life = createDeferred<void>();
    let late: (() => void) | undefined;
    const server = scripted(
      (message, connection) => {
        if (message.method === 'server/discover') late = () => modernScript(message, connection);
      },
      { life: () => life.promise },
    );
    const opening = openClient(server, { clock, silenceMs: 1000, bootMs: 5000 });
    await settle();
    clock.advance(4900);
    await settle();
    life.resolve();
    await settle();
    clock.advance(999);
    expect(await isSettled(opening)).toBe(false);
    late!();
    expect((await opening).verdict).toMatchObject({ era: 'modern', ms: 5899 });
  });

  test('of a server that never shows life counts as legacy after bootMs: that is the upper bound', async () => {
    const clock = new FakeClock();
    const server = scripted(silentOnDiscover, { life: () => new Promise(() => {}) });
    const opening = openClient(server, { clock, silenceMs: 1000, bootMs: 5000 });
    await settle();
    clock.advance(4999);
    expect(await isSettled(opening)).toBe(false);
    clock.advance(1);
    expect(await isSettled(opening)).toBe(true);
    expect((await opening).verdict).toMatchObject({ era: 'legacy', ms: 5000 });
  });

  test('a late answer to the probe is ignored, before and after the handshake (wire §10.4)', async () => {
    for (const when of ['during', 'after'] as const) {
      const clock = new FakeClock();
      let late: (() => void) | undefined;
      const server = scripted((message, connection) => {
        if (message.method === 'server/discover') late = () => connection.result(message, DISCOVERED);
        else {
          if (message.method === 'initialize' && when === 'during') late!();
          legacyScript(message, connection);
        }
      });
      const opening = openClient(server, { clock });
      await settle();
      clock.advance(1000);
      const client = await opening;
      if (when === 'after') late!();
      await settle();
      expect(client.era).toBe('legacy');
      expect(textOf(await client.callTool('a'))).toBe('a');
    }
  });

  test('of a modern-only server that was only slow ends in the modern era, not in a failure (VER-010)', async () => {
    // Life early (a line on stderr), readiness late: the probe is given up, initialize is refused with -32022.
    const clock = new FakeClock();
    let ready = false;
    const server = scripted((message, connection) => {
      if (message.method === 'initialize') ready = true;
      if (ready) modernScript(message, connection);
    });
    const opening = openClient(server, { clock });
    await settle();
    clock.advance(1000);
    await settle();
    clock.advance(1000);
    const client = await opening;
    expect(client.verdict).toMatchObject({ era: 'modern', revision: '2026-07-28' });
    expect(textOf(await client.callTool('a'))).toBe('a');
    expect(server.connections).toHaveLength(1);
  });

  test('to everything ends in TIMED_OUT after connectTimeoutMs in all, on one connection', async () => {
    const clock = new FakeClock();
    const server = scripted(() => {});
    const opening = failure(openClient(server, { clock, connectTimeoutMs: 3000, silenceMs: 1000 }));
    await settle();
    clock.advance(1000);
    await settle();
    clock.advance(1999);
    expect(await isSettled(opening)).toBe(false);
    clock.advance(1);
    expect(await opening).toMatchObject({ code: 'TIMED_OUT' });
    expect(server.connections).toHaveLength(1);
    await until('closed', () => !server.connections[0]!.isOpen());
    // INIT-014: initialize is never cancelled.
    expect(methods(server.connections[0])).toEqual(['server/discover', 'initialize']);
  });

  test('longer than connectTimeoutMs is a timeout, not a reason to start the server again', async () => {
    const clock = new FakeClock();
    const server = scripted(() => {});
    const opening = failure(openClient(server, { clock, connectTimeoutMs: 500, silenceMs: 1000 }));
    await settle();
    clock.advance(500);
    await settle();
    clock.advance(500);
    expect(await opening).toMatchObject({ code: 'TIMED_OUT' });
    expect(server.connections).toHaveLength(1);
  });
});

describe('mode', () => {
  test('modern probes too, and tells what to do about a legacy server (VER-013)', async () => {
    for (const mode of ['modern', '2026-07-28']) {
      const server = scripted(refusesDiscover(-32601));
      const error = await failure(openClient(server, { mode }));
      expect(error).toMatchObject({ name: 'IsthmusError', code: 'NO_COMMON_REVISION', sent: 'no' });
      expect(error.message).toContain('legacy');
      expect(error.message).toContain('mode "auto"');
      expect(methods(server.connections[0])).toEqual(['server/discover']);
      await until('closed', () => !server.connections[0]!.isOpen());
    }
  });

  test('modern says the same of a server that stays silent for connectTimeoutMs (VER-013)', async () => {
    const clock = new FakeClock();
    const server = scripted(() => {});
    const opening = failure(openClient(server, { clock, mode: 'modern', connectTimeoutMs: 20_000 }));
    await settle();
    clock.advance(1000);
    expect(await isSettled(opening)).toBe(false);
    clock.advance(19_000);
    const error = await opening;
    expect(error).toMatchObject({ code: 'NO_COMMON_REVISION' });
    expect(error.message).toContain(
      'did not answer server/discover within 20000 ms, so it is a legacy server',
    );
    expect(methods(server.connections[0])).toEqual(['server/discover']);
  });

  test('modern waits for a server that starts slowly: silence decides nothing when one era is allowed', async () => {
    const clock = new FakeClock();
    let answer!: () => void;
    const server = scripted((message, say) => {
      answer = () => modernScript(message, say);
    });
    const opening = openClient(server, { clock, mode: 'modern' });
    await settle();
    clock.advance(29_000);
    answer();
    expect((await opening).verdict).toMatchObject({ era: 'modern', source: 'mode', ms: 29_000 });
  });

  test('modern with a modern server is modern because it was asked for', async () => {
    for (const mode of ['modern', '2026-07-28']) {
      const client = await openClient(scripted(modernScript), { mode });
      expect(client.verdict).toMatchObject({ era: 'modern', revision: '2026-07-28', source: 'mode' });
    }
  });

  test('legacy goes straight to initialize', async () => {
    const server = scripted(legacyScript);
    const client = await openClient(server, { mode: 'legacy' });
    expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-11-25', source: 'mode' });
    expect(client.verdict.why).not.toBe('');
    expect(methods(server.connections[0])).toEqual(['initialize', 'notifications/initialized']);
  });

  test('legacy falls forward with a modern-only server, on the same connection', async () => {
    const server = scripted(modernScript);
    const client = await openClient(server, { mode: 'legacy' });
    expect(client.verdict).toMatchObject({ era: 'modern', revision: '2026-07-28' });
    expect(client.verdict.evidence[0]).toContain('-32022');
    expect(methods(server.connections[0])).toEqual(['initialize', 'server/discover']);
    expect(textOf(await client.callTool('a'))).toBe('a');
    expect(server.connections).toHaveLength(1);
  });

  test.each([
    [-32601, undefined],
    [-32602, { supported: ['2026-07-28'] }],
    [-32600, undefined],
  ])(
    'legacy falls forward too when the refusal of initialize is %i with data %j (VER-009: whatever error)',
    async (code, data) => {
      const server = scripted((message, connection) => {
        if (message.method === 'initialize') connection.error(message, code, data);
        else modernScript(message, connection);
      });
      const client = await openClient(server, { mode: 'legacy' });
      expect(client.verdict).toMatchObject({ era: 'modern', revision: '2026-07-28' });
      expect(server.connections).toHaveLength(1);
    },
  );

  test('a pinned legacy revision is asked for, and nothing else is accepted', async () => {
    const willing = scripted((message, connection) => {
      if (message.method === 'initialize')
        connection.result(message, { ...WELCOME, protocolVersion: message.params.protocolVersion });
    });
    const client = await openClient(willing, { mode: '2025-03-26' });
    expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-03-26', source: 'mode' });

    const unwilling = scripted(legacyScript);
    const error = await failure(openClient(unwilling, { mode: '2025-03-26' }));
    expect(error).toMatchObject({ code: 'NO_COMMON_REVISION' });
    expect(error.message).toContain('2025-03-26');
    expect(error.message).toContain('2025-11-25');
  });

  test('a pinned legacy revision does not fall forward, and the error names what the server speaks (VER-009)', async () => {
    const server = scripted(modernScript);
    const error = await failure(openClient(server, { mode: '2025-06-18' }));
    expect(methods(server.connections[0])).toEqual(['initialize']);
    expect(error).toMatchObject({ code: 'NO_COMMON_REVISION' });
    expect(error.message).toContain('2026-07-28');
    expect(error.message).toContain('2025-06-18');
  });

  test.each(['2026-07-29', 'newest', '', '2025'])('%j is refused before anything is opened', async (mode) => {
    const server = scripted(modernScript);
    expect(await failure(openClient(server, { mode }))).toMatchObject({ code: 'INVALID_OPTION' });
    expect(server.connections).toHaveLength(0);
  });

  test.each(['connectTimeoutMs', 'silenceMs', 'bootMs', 'timeoutMs', 'maxRounds'])(
    '%s must be a positive whole number',
    async (name) => {
      for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(await failure(openClient(scripted(modernScript), { [name]: value }))).toMatchObject({
          code: 'INVALID_OPTION',
          message: expect.stringContaining(name),
        });
      }
    },
  );
});

describe('what arrives around the handshake', () => {
  test('a ping before the handshake is over is answered', async () => {
    const server = scripted((message, connection) => {
      if (message.method === 'server/discover') connection.error(message, -32601);
      else if (message.method === 'initialize') {
        connection.send({ jsonrpc: '2.0', id: 'p', method: 'ping' });
        legacyScript(message, connection);
      }
    });
    await openClient(server);
    await settle();
    expect(server.connections[0]!.received).toContainEqual(expect.objectContaining({ id: 'p', result: {} }));
  });

  test('a log that comes together with the answer to initialize is not lost', async () => {
    const logs: unknown[] = [];
    const server = scripted((message, connection) => {
      if (message.method !== 'initialize') return;
      legacyScript(message, connection);
      connection.send({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'info', data: 'hello' },
      });
    });
    await openClient(server, { mode: 'legacy', onLog: (entry) => logs.push(entry.data) });
    await settle();
    expect(logs).toEqual(['hello']);
  });

  test('a question that comes together with the answer to initialize is answered', async () => {
    const server = scripted((message, connection) => {
      if (message.method !== 'initialize') return;
      legacyScript(message, connection);
      connection.send({ jsonrpc: '2.0', id: 'q', method: 'roots/list' });
    });
    await openClient(server, { mode: 'legacy', answers: { roots: [{ uri: 'file:///a' }] } });
    await settle();
    expect(server.connections[0]!.received).toContainEqual(
      expect.objectContaining({ id: 'q', result: { roots: [{ uri: 'file:///a' }] } }),
    );
  });

  test('a modern server that sends a request gets no answer (JRPC-013, JRPC-014, STDIO-009)', async () => {
    const server = scripted((message, connection) => {
      if (message.method === 'tools/call') {
        connection.send({ jsonrpc: '2.0', id: 'q', method: 'roots/list' });
        connection.send({ jsonrpc: '2.0', id: 'p', method: 'ping' });
        answerCalls(message, connection);
      } else modernScript(message, connection);
    });
    const client = await openClient(server, { answers: { roots: [{ uri: 'file:///a' }] } });
    expect(textOf(await client.callTool('a'))).toBe('a');
    await settle();
    expect(server.connections[0]!.received.filter(({ method }) => method === undefined)).toEqual([]);
  });

  test('ids are integers, each used once, over probe, handshake and calls (JRPC-002, JRPC-005)', async () => {
    const server = scripted(refusesDiscover(-32601));
    const client = await openClient(server);
    await Promise.all([client.callTool('a'), client.callTool('b'), client.callTool('c')]);
    const ids = server.connections[0]!.received.filter(({ id }) => id !== undefined).map(({ id }) => id);
    expect(ids).toHaveLength(5);
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(Number.isSafeInteger(id)).toBe(true);
  });
});
