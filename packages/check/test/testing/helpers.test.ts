/** The helpers for tests of server authors: `assertSound` and `testServer` of `isthmus/check`. */

import { http } from '@isthmus/sdk/http';
import { createServer } from '@isthmus/sdk/internal/server/create-server.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { unixSocket } from '@isthmus/sdk/socket';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../../../test/support/child.js';
import { freeFolder } from '../../../cli/test/support/isthmus.js';
import {
  assertSound,
  type Check,
  NotSound,
  type SoundOptions,
  serverTarget,
  type TestServerOptions,
  testServer,
} from '../../src/index.js';

// The runner of these tests is one of those that it is for: this registers real tests.
describe('testServer with vitest', () => {
  testServer(
    it,
    { server: small() },
    { only: ['ping/answered', 'tools/names-usable', 'http-origin/foreign-refused'] },
  );
});

describe('assertSound', () => {
  it('gives the report of a sound server', async () => {
    const report = await assertSound({ server: small() }, { only: ['ping/answered'] });
    expect(report.target).toEqual({ label: 'small, in this process', transport: 'socket' });
    expect(report.counts).toMatchObject({ pass: 1, fail: 0 });
    expect(report.version).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('throws what a person needs to fix it, and tells both eras at once', async () => {
    const error = await rejection(assertSound({ server: small() }, { checks, seed: 7 }));
    expect(error).toBeInstanceOf(NotSound);
    expect((error as NotSound).report.counts).toMatchObject({ fail: 2, warn: 2 });
    expect(error.message).toBe(
      [
        'small, in this process is not sound: 2 MUST are broken (grade F, seed 7)',
        '',
        '✗ Is polite (modern, legacy)',
        '  check     manners/polite',
        '  rule      MSG-001 (MUST)',
        '  seen      it said‹U+001B› nothing',
        '  expected  a greeting',
        '  fix       Say hello first.',
        '  input     {}',
        '  wire      → {"jsonrpc":"2.0"}',
      ].join('\n'),
    );
  });

  it('fails on a SHOULD where it is told to', async () => {
    const options: SoundOptions = { checks, only: ['manners/warm'], seed: 7 };
    await assertSound({ server: small() }, options);
    const error = await rejection(assertSound({ server: small() }, { ...options, failOn: 'should' }));
    expect(error.message).toBe(
      [
        'small, in this process is not sound: 2 SHOULD are broken (grade A, seed 7)',
        '',
        '! Is warm (modern, legacy)',
        '  check     manners/warm',
        '  rule      none (SHOULD): People like it.',
        '  seen      it is cold',
        '  expected  warmth',
        '  fix       Smile at them.',
      ].join('\n'),
    );
  });

  it('names what is stale in the baseline', async () => {
    const baseline = { version: 1, accepted: [{ check: 'manners/there' }] } as const;
    const run = assertSound({ server: small() }, { checks, only: ['manners/there'], baseline });
    expect((await rejection(run)).message).toMatch(
      /stale \(grade A\+, .*\n\n✗ in the baseline: manners\/there holds now: remove it from the baseline$/,
    );
  });

  it('says why there is nothing to judge', async () => {
    const dead = fixture('child-that-dies-at-start.mjs');
    const error = await rejection(assertSound({ command: process.execPath, args: [dead], label: 'dead' }));
    expect(error.message).toMatch(/^dead speaks no era of MCP that was tried, so it cannot be checked\n/);
    expect(error.message).toMatch(/\n {2}legacy: .*exited with code/);
    await expect(assertSound({} as never)).rejects.toThrow(
      'No server given. Give { command, args }, { url }, { address }, { server } or a target',
    );
  });

  it('takes a command, a URL, an address, a server, a target, or a function that gives one', async () => {
    const path = `${freeFolder()}/small.sock`;
    const served = await serve(small(), [http({ port: 0 }), unixSocket(path)]);
    onTestFinished(() => served.close({ graceMs: 0 }));
    const [url] = served.addresses;
    const subjects = [
      { command: process.execPath, args: [fixture('server-with-slow-tool.mjs')] },
      { url: url! },
      { address: `unix:${path}` },
      { server: small() },
      serverTarget(small()),
      () => ({ url: url! }),
      async () => ({ address: `unix:${path}` }),
    ];
    const reports = await Promise.all(
      subjects.map((subject) => assertSound(subject, { only: ['ping/answered'] })),
    );
    const transports = ['command', 'http', 'socket', 'socket', 'socket', 'http', 'socket'];
    expect(reports.map(({ target }) => target.transport)).toEqual(transports);
  });
});

describe('testServer', () => {
  it('registers a test for each check, and runs the checks once', async () => {
    let runs = 0;
    const counting = checks.map((check) => ({ ...check, era: 'none' as const }));
    const first = { ...counting[0]!, run: () => String(++runs) };
    const tests = await runTests({ checks: [first, ...counting.slice(1)] });
    expect(tests).toEqual([
      ['the server can be checked', 'passed'],
      ['manners/there: Is there', 'passed'],
      [
        'manners/polite: Is polite',
        expect.stringMatching(/^failed: ✗ Is polite\n {2}check {5}manners\/polite\n/),
      ],
      ['manners/warm: Is warm', 'passed'],
      ['manners/tall: Is tall', 'skipped: it cannot be seen'],
    ]);
    expect(runs).toBe(1);
  });

  it('or for each suite', async () => {
    const tests = await runTests({ checks, by: 'suite', failOn: 'should' });
    expect(tests).toEqual([
      ['the server can be checked', 'passed'],
      [
        'suite protocol',
        expect.stringMatching(/^failed: ✗ Is polite \(modern, legacy\)\n[\s\S]*\n\n! Is warm \(/),
      ],
      ['suite tools', 'skipped: it cannot be seen'],
    ]);
  });

  it('skips what the baseline accepts, and fails where it is stale', async () => {
    const accepted = [{ check: 'manners/polite' }, { check: 'manners/there' }];
    const tests = await runTests({ checks, baseline: { version: 1, accepted } });
    expect(tests[2]).toEqual([
      'manners/polite: Is polite',
      'skipped: accepted by the baseline: it said‹U+001B› nothing',
    ]);
    expect(tests.at(-1)).toEqual([
      'the baseline is up to date',
      'failed: manners/there holds now: remove it from the baseline',
    ]);
  });

  it('fails once where the server cannot be judged, and skips the rest', async () => {
    const tests = await runTests({ checks, by: 'suite', subject: { url: 'http://127.0.0.1:1/mcp' } });
    expect(tests).toEqual([
      ['the server can be checked', expect.stringMatching(/^failed: .* speaks no era .*\n.*ECONNREFUSED/)],
      ['suite protocol', expect.stringMatching(/^skipped: cannot be checked: /)],
      ['suite tools', expect.stringMatching(/^skipped: cannot be checked: /)],
    ]);
  });

  it('fails where nothing applies', async () => {
    const tests = await runTests({ checks: checks.slice(3) });
    expect(tests[0]).toEqual([
      'the server can be checked',
      'failed: None of 2 checks applies to this server',
    ]);
  });

  it('gives every test the time of the whole run', () => {
    const times = new Set<number>();
    testServer((_name, _run, ms) => times.add(ms), { server: small() }, { checks });
    testServer((_name, _run, ms) => times.add(ms), { server: small() }, { checks, timeoutMs: 5 });
    expect([...times]).toEqual([120_000, 5]);
  });
});

function small() {
  const server = createServer({ name: 'small', version: '1.0.0' });
  server.tool('hello', { description: 'Greets', annotations: { readOnlyHint: true } }, () => 'Hello');
  return server;
}

/** One that holds, one that does not, one that only should, and one that does not apply. */
const checks: readonly Check[] = [
  {
    ...named('there', 'Is there', 'Be there always.'),
    run: () => 'it is there',
  },
  {
    ...named('polite', 'Is polite', 'Say hello first.'),
    run: (context) =>
      context.fail('it said\u001b nothing', 'a greeting', {
        input: '{}',
        wire: [{ from: 'check', atMs: 1, text: '{"jsonrpc":"2.0"}' }],
      }),
  },
  {
    ...named('warm', 'Is warm', 'Smile at them.'),
    level: 'SHOULD',
    rules: [],
    reason: 'People like it.',
    run: (context) => context.fail('it is cold', 'warmth', { wire: [] }),
  },
  {
    ...named('tall', 'Is tall', 'Grow a little.'),
    suite: 'tools',
    run: (context) => context.skip('it cannot be seen'),
  },
];

function named(id: string, title: string, hint: string) {
  return { id: `manners/${id}`, suite: 'protocol', title, level: 'MUST', rules: ['MSG-001'], hint } as const;
}

/** A runner that has nothing but names and functions, and what came of each test. */
async function runTests({
  subject = { server: small() },
  ...options
}: TestServerOptions & { readonly subject?: Parameters<typeof testServer>[1] }): Promise<
  [name: string, outcome: string][]
> {
  const tests: [string, (context: { skip(why?: string): void }) => Promise<void>][] = [];
  testServer((name, run) => tests.push([name, run]), subject, options);
  const outcomes: [string, string][] = [];
  for (const [name, run] of tests) {
    let outcome = 'passed';
    const skip = (why?: string) => {
      outcome = `skipped: ${why}`;
    };
    await run({ skip }).catch((error: Error) => {
      outcome = `failed: ${error.message}`;
    });
    outcomes.push([name, outcome]);
  }
  return outcomes;
}

async function rejection(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error('It was not rejected');
    },
    (error: Error) => error,
  );
}
