import { describe, expect, test } from 'vitest';
import { command, failure, openClient, program, textOf, until } from '../support/client/open-client.js';
import { isAlive, killAtTheEnd } from '../support/process.js';

const ERAS = ['legacy', 'modern'] as const;

async function echoes(client: Awaited<ReturnType<typeof openClient>>, text = 'héllo'): Promise<void> {
  expect(textOf(await client.callTool('echo', { text }))).toBe(text);
}

describe('a server that is asked server/discover and', () => {
  test('exits is started once more and spoken to as legacy, never two at a time (VER-015)', async () => {
    const server = program('server-exits-on-discover.mjs');
    const client = await openClient(server);
    expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-11-25', source: 'probe' });
    expect(client.verdict.evidence.join('; ')).toMatch(/code 1 .*unknown method server\/discover/);
    await echoes(client);
    expect(server.pids).toHaveLength(2);
    expect(server.mostAlive()).toBe(1);
  });

  test('stays silent is legacy, in the same process (VER-015)', async () => {
    const server = program('server-silent-on-discover.mjs');
    const client = await openClient(server, { silenceMs: 200, bootMs: 600 });
    expect(client.verdict).toMatchObject({ era: 'legacy', source: 'probe' });
    expect(client.verdict.evidence.join()).toMatch(/not answered within \d+ ms/);
    await echoes(client);
    expect(server.pids).toHaveLength(1);
  });

  test.each(['-32601', '-32602', '-32600', '-32000'])(
    'answers %s is legacy, in the same process (VER-015)',
    async (code) => {
      const server = program('server-answers-discover-with.mjs', [code]);
      const client = await openClient(server);
      expect(client.verdict).toMatchObject({ era: 'legacy', source: 'probe' });
      expect(client.verdict.why).toContain(code);
      await echoes(client);
      expect(server.pids).toHaveLength(1);
    },
  );

  test('answers with garbage is legacy after the silence, and the garbage is reported (STDIO-004)', async () => {
    const noise: string[] = [];
    const server = program('server-answers-discover-with.mjs', ['garbage']);
    const client = await openClient(server, {
      silenceMs: 200,
      onNoise: (line) => noise.push(line.error.message),
    });
    expect(client.era).toBe('legacy');
    expect(noise).toHaveLength(1);
    await echoes(client);
    expect(server.pids).toHaveLength(1);
  });

  test.each(['no-id', 'null-id'])('answers an error with %s is legacy at once (VER-015)', async (how) => {
    const server = program('server-answers-discover-with.mjs', [how]);
    const client = await openClient(server, { silenceMs: 20_000 });
    expect(client.era).toBe('legacy');
    expect(client.verdict.evidence.join()).toContain('without id');
    await echoes(client);
    expect(server.pids).toHaveLength(1);
  });

  test('answers with a broken line that has its id is legacy, in the same process', async () => {
    // As a program does that prints a Python dictionary: it is no JSON, but it is the answer.
    const broken = `
      let text = '';
      process.stdin.on('data', (chunk) => {
        text += chunk;
        for (let at = text.indexOf('\\n'); at >= 0; at = text.indexOf('\\n')) {
          const { id, method, params } = JSON.parse(text.slice(0, at));
          text = text.slice(at + 1);
          if (method === 'server/discover')
            console.log('{"jsonrpc":"2.0","id":' + id + ',"error":{"code":-32601,"message":None}}');
          else if (method === 'initialize')
            console.log(JSON.stringify({ jsonrpc: '2.0', id, result: {
              protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } } }));
        }
      });
      process.stdin.on('end', () => process.exit(0));`;
    const server = command({ command: process.execPath, args: ['-e', broken] });
    const client = await openClient(server, { silenceMs: 500, bootMs: 2000 });
    expect(client.era).toBe('legacy');
    expect(client.verdict.evidence.join()).not.toContain('ended');
    expect(server.pids).toHaveLength(1);
  });
});

describe('a server that boots for longer than silenceMs', () => {
  test.each([
    [1300, 'dual', 'modern'],
    [1300, 'modern', 'modern'],
    [1300, 'legacy', 'legacy'],
  ])('(%i ms) and is %s is found to be %s', async (ms, eras, era) => {
    const server = program('server-slow-boot.mjs', [ms, eras]);
    const client = await openClient(server, { silenceMs: 1000, bootMs: 20_000 });
    expect(client.verdict).toMatchObject({ era, source: 'probe' });
    expect(client.verdict.ms).toBeGreaterThan(ms - 100);
    await echoes(client);
    expect(server.pids).toHaveLength(1);
  });
});

test.each(ERAS)('banners on stdout are skipped and reported: %s (STDIO-004)', async (era) => {
  const noise: string[] = [];
  const server = program('server-with-banners.mjs', [era]);
  const client = await openClient(server, { onNoise: (line) => noise.push(line.error.message) });
  expect(client.era).toBe(era);
  await echoes(client);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['echo']);
  expect(noise.length).toBeGreaterThan(5);
  expect(server.pids).toHaveLength(1);
});

test.each(ERAS)(
  '1 MB on stderr neither blocks the server nor counts as a failure: %s (STDIO-007, STDIO-008)',
  async (era) => {
    const server = program('server-floods-stderr.mjs', [era]);
    const client = await openClient(server, { silenceMs: 10_000 });
    expect(client.era).toBe(era);
    await echoes(client);
    expect(server.stderr()).toContain('end of the flood');
    expect(server.stderr().length).toBeLessThanOrEqual(64 * 1024);
  },
);

test.each(ERAS)(
  'a server that ignores the end of input and SIGTERM is killed by close(): %s (LIFE-001, LIFE-002)',
  async (era) => {
    const shutdown = { closeMs: 200, termMs: 200, killMs: 2000 };
    const server = program('server-ignores-sigterm.mjs', [era], { shutdown });
    const client = await openClient(server);
    await echoes(client);
    await client.close();
    expect(server.pids.filter(isAlive)).toEqual([]);
    expect(server.stderr()).toContain('end of input? no');
    expect(server.stderr()).toContain('SIGTERM? no');
  },
);

test.each(['inherit', 'ignore'])(
  'a grandchild that has our pipes (%s) is ended with the server, and close() settles',
  async (how) => {
    const server = program('server-leaves-grandchild.mjs', [how], {
      shutdown: { closeMs: 500, termMs: 500, killMs: 2000 },
    });
    const client = await openClient(server);
    const grandchild = killAtTheEnd(Number(textOf(await client.callTool('grandchild'))));
    expect(isAlive(grandchild)).toBe(true);
    await client.close();
    expect(isAlive(grandchild)).toBe(false);
  },
);

test.each(ERAS)(
  'a server that dies in the midst of a call fails it at once, with exit code and last words: %s',
  async (era) => {
    const server = program('server-dies-mid-call.mjs', [era]);
    const client = await openClient(server);
    // Not after its timeout, which is longer than that of the test.
    const error = await failure(client.callTool('die'));
    expect(error).toMatchObject({ name: 'IsthmusError', code: 'CHILD_EXITED', sent: 'maybe' });
    expect(error.message).toContain('code 7');
    expect(error.message).toContain('fatal: out of luck');
    // LIFE-005: the next call has a new process.
    await echoes(client);
    expect(server.pids).toHaveLength(2);
    expect(server.mostAlive()).toBe(1);
  },
);

test.each(ERAS)(
  'an answer after the cancellation is ignored: %s (CANC-009, CANC-010, STDIO-013)',
  async (era) => {
    const server = program('server-answers-after-cancel.mjs', [era]);
    const client = await openClient(server);
    const updates: unknown[] = [];
    const off = new AbortController();
    const call = failure(
      client.callTool('wait', {}, { signal: off.signal, onProgress: (update) => updates.push(update) }),
    );
    await until('the call runs', () => server.stderr().includes('waiting'));
    off.abort(new Error('changed my mind'));
    expect(await call).toMatchObject({ name: 'IsthmusError', code: 'CANCELLED', sent: 'maybe' });
    await until('cancelled', () => /cancelled \d+, known: true/.test(server.stderr()));
    await echoes(client);
    expect(updates).toEqual([]);
  },
);

test.each(ERAS)(
  'a timeout is not an abort, and is cancelled on the wire too: %s (CANC-013, CANC-014)',
  async (era) => {
    const server = program('server-answers-after-cancel.mjs', [era]);
    const client = await openClient(server);
    const error = await failure(client.callTool('wait', {}, { timeoutMs: 150 }));
    expect(error).toMatchObject({ name: 'IsthmusError', code: 'TIMED_OUT', sent: 'maybe' });
    expect(error.message).toContain('150 ms');
    await until('cancelled', () => /cancelled \d+, known: true/.test(server.stderr()));
    await echoes(client);
  },
);

test.each(ERAS)('a result of 11 MiB arrives whole: %s', async (era) => {
  const client = await openClient(program('server-sends-11mb.mjs', [era]));
  expect(textOf(await client.callTool('big'))).toHaveLength(11 * 1024 * 1024);
  await echoes(client);
});

test.each(['id-first', 'id-last'])(
  'a line of 80 MB costs one call and not the connection: %s',
  async (where) => {
    const server = program('server-sends-80mb-line.mjs', [where, 'modern']);
    const client = await openClient(server);
    // One after the other: the server would write other answers into the midst of its line.
    const big = await failure(client.callTool('big'));
    expect(big).toMatchObject({ name: 'IsthmusError', code: 'RESULT_TOO_LARGE', sent: 'maybe' });
    expect(big.message).toContain(String(64 * 1024 * 1024));
    await echoes(client);
    expect(server.pids).toHaveLength(1);
  },
);

test.each(ERAS)(
  'answers with other ids, or ids of another type, are nobody’s: %s (JRPC-006)',
  async (era) => {
    const server = program('server-with-wrong-ids.mjs', [era]);
    const client = await openClient(server);
    expect(client.era).toBe(era);
    await Promise.all([echoes(client, 'a'), echoes(client, 'b'), echoes(client, 'c')]);
  },
);

describe('a server that is particular about versions', () => {
  test('and refuses the first request is asked again and is modern (VER-002, VER-010)', async () => {
    const server = program('server-rejects-versions.mjs', ['2026-07-28', 'first']);
    const client = await openClient(server);
    expect(client.verdict).toMatchObject({ era: 'modern', revision: '2026-07-28' });
    await echoes(client);
    expect(server.pids).toHaveLength(1);
  });

  test('and refuses what it says it supports makes no loop (VER-010)', async () => {
    const server = program('server-rejects-versions.mjs', ['2026-07-28', 'always']);
    const error = await failure(openClient(server));
    expect(error).toMatchObject({ code: 'NO_COMMON_REVISION', sent: 'no' });
    expect(error.message).toContain('2026-07-28');
    expect(server.pids).toHaveLength(1);
    expect(server.pids.filter(isAlive)).toEqual([]);
  });

  test('and speaks only foreign ones is named with them (VER-002)', async () => {
    const server = program('server-rejects-versions.mjs', ['2027-06-01,2028-01-01']);
    const error = await failure(openClient(server));
    expect(error).toMatchObject({ code: 'NO_COMMON_REVISION' });
    expect(error.message).toContain('2027-06-01, 2028-01-01');
    expect(error.message).toContain('server-rejects-versions.mjs');
  });

  test('and shares only a legacy one with us is spoken to in that one', async () => {
    const server = program('server-rejects-versions.mjs', ['2099-01-01,2025-06-18']);
    const client = await openClient(server);
    expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-06-18' });
    await echoes(client);
  });
});

describe('a server that asks five rounds', () => {
  const elicit = () => ({ action: 'accept' as const, content: { answer: 'yes' } });

  test.each(['questions', 'silent'])(
    'gets its states back byte by byte and each answer once: %s (MRTR-016…MRTR-024)',
    async (how) => {
      const client = await openClient(program('server-asks-five-rounds.mjs', [how]), { answers: { elicit } });
      const call = async (x: number) => {
        const { structuredContent } = await client.callTool('ask', { x });
        return structuredContent as { rounds: number; ids: number[]; answers: unknown[]; problems: string[] };
      };
      // MRTR-022: side by side, nothing is mixed up.
      for (const report of await Promise.all([call(1), call(2), call(3)])) {
        expect(report.problems).toEqual([]);
        expect(new Set(report.ids).size).toBe(6);
        expect(report.answers).toEqual(
          [1, 2, 3, 4, 5].map((round) =>
            how === 'silent' && round === 3 ? 'not asked' : { action: 'accept', content: { answer: 'yes' } },
          ),
        );
      }
    },
  );

  test('more often than maxRounds is given up', async () => {
    const client = await openClient(program('server-asks-five-rounds.mjs'), {
      answers: { elicit },
      maxRounds: 4,
    });
    expect(await failure(client.callTool('ask'))).toMatchObject({ code: 'TOO_MANY_ROUNDS', sent: 'maybe' });
    await echoes(client);
  });

  test('exactly maxRounds times is answered', async () => {
    const client = await openClient(program('server-asks-five-rounds.mjs'), {
      answers: { elicit },
      maxRounds: 5,
    });
    expect((await client.callTool('ask')).structuredContent).toMatchObject({ problems: [] });
  });

  test('is not asked by a client that declared nothing: the wire error has its number (MRTR-007)', async () => {
    const client = await openClient(program('server-asks-five-rounds.mjs'));
    expect(await failure(client.callTool('ask'))).toMatchObject({
      name: 'ProtocolError',
      code: -32021,
      data: { requiredCapabilities: { elicitation: {} } },
    });
  });

  test('and is cancelled between two rounds gets no further round (CANC-010)', async () => {
    const off = new AbortController();
    let handlerSignal: AbortSignal | undefined;
    const client = await openClient(program('server-asks-five-rounds.mjs'), {
      answers: {
        elicit: (_question, { signal }) => {
          handlerSignal = signal;
          off.abort();
          return new Promise(() => {});
        },
      },
    });
    const error = await failure(client.callTool('ask', {}, { signal: off.signal }));
    expect(error).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    expect(handlerSignal?.aborted).toBe(true);
    await echoes(client);
  });
});

test('a legacy server that asks two things at once gets both answers, and its ping, under its own ids', async () => {
  const client = await openClient(program('server-asks-two-at-once.mjs'), {
    answers: {
      elicit: () => ({ action: 'accept', content: { answer: '42' } }),
      sample: () => ({ role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' }),
    },
  });
  expect(JSON.parse(textOf(await client.callTool('ask')))).toEqual({
    elicitation: { action: 'accept', content: { answer: '42' } },
    sampling: { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' },
    ping: {},
  });
});

test('a legacy server that asks what was not declared gets an error for each, and the call goes on', async () => {
  const client = await openClient(program('server-asks-two-at-once.mjs'), {
    answers: {
      elicit: () => {
        throw new Error('the user has left');
      },
    },
  });
  expect(JSON.parse(textOf(await client.callTool('ask')))).toMatchObject({
    elicitation: { error: { code: -32603, message: expect.stringContaining('the user has left') } },
    sampling: { error: { code: -32601 } },
    ping: {},
  });
});

test('a result of an unknown type is invalid, and costs nothing but itself (RTYPE-003)', async () => {
  const client = await openClient(program('server-unknown-result-type.mjs'));
  const error = await failure(client.callTool('odd'));
  expect(error).toMatchObject({ name: 'IsthmusError', code: 'INVALID_RESULT', sent: 'maybe' });
  expect(error.message).toContain('hologram');
  await echoes(client);
});

test.each(ERAS)(
  'a list in pages is read to its end, over an empty cursor too: %s (PAGE-004)',
  async (era) => {
    const client = await openClient(program('server-with-pages.mjs', [era]));
    const tools = await client.listTools();
    expect(tools).toHaveLength(25);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(25);
    expect(tools.at(-1)!.name).toBe('tool-24');
  },
);

test.each(ERAS)(
  'an answer that is no response fails its call at once instead of leaving it to wait: %s (JRPC-001, JRPC-007, JRPC-008, JRPC-009)',
  async (era) => {
    const client = await openClient(program('server-answers-badly.mjs', [era]));
    for (const tool of ['array', 'null', 'text', 'both', 'code', 'message', 'version']) {
      const error = await failure(client.callTool(tool, {}, { timeoutMs: 5000 }));
      expect(error, tool).toMatchObject({ name: 'IsthmusError', code: 'INVALID_RESULT', sent: 'maybe' });
    }
    await echoes(client);
  },
);

test('a last answer without a newline, from a server that exits with it, still counts', async () => {
  const program = `
    import(process.argv[1]).then(({ serveLines, NO_ANSWER }) => serveLines({ tools: { bye(_args, { id }) {
      const result = { resultType: 'complete', content: [{ type: 'text', text: 'last' }] };
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }), () => process.exit(0));
      return NO_ANSWER;
    } } }));`;
  const lines = new URL('../../../../test/programs/support/line-server.mjs', import.meta.url).href;
  const client = await openClient(command({ command: process.execPath, args: ['-e', program, lines] }));
  expect(textOf(await client.callTool('bye'))).toBe('last');
});

test('a server that closes its stdout and lives on fails the call at once (LIFE-004)', async () => {
  const program = `
    import(process.argv[1]).then(({ serveLines, NO_ANSWER }) => serveLines({ tools: { mute() {
      require('node:fs').closeSync(1);
      return NO_ANSWER;
    } } }));`;
  const lines = new URL('../../../../test/programs/support/line-server.mjs', import.meta.url).href;
  const server = command({ command: process.execPath, args: ['-e', program, lines] });
  const client = await openClient(server, { reconnect: false });
  // Not after its timeout, which is longer than that of the test.
  expect(await failure(client.callTool('mute'))).toMatchObject({ sent: 'maybe' });
  await client.closed;
});
