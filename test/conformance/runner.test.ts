import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { httpHandler } from '@isthmus/sdk/http';
import { serve } from '@isthmus/sdk/server';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Check, judgeClient, judgeServer, judgeSkipped } from '../../conformance/lib/judge.js';
import { ensureInstalled } from '../../scripts/setup.js';
import { type Ended, runProgram } from '../package/run-program.js';

describe('a requirement set', () => {
  it('is green when every scored scenario has successes and nothing else', () => {
    const { rows, summary } = judge({});
    expect(rows).toEqual([
      { verdict: 'passed', scenario: 'ping', text: '2 checks' },
      { verdict: 'passed', scenario: 'tools-list', text: '1 check' },
      { verdict: 'noted', scenario: 'tasks-lifecycle', text: 'fails; not scored: no tasks' },
    ]);
    expect(summary).toBe('2/2 scored scenarios, 3 checks; 1/1 unscored as expected');
  });

  it.each([
    ['a failure', [success('ping'), check('FAILURE', 'wire-schema-valid')], 'FAILURE wire-schema-valid'],
    ['a warning', [success('ping'), check('WARNING', 'slow')], 'WARNING slow'],
    ['a check that was skipped', [success('ping'), check('SKIPPED', 'late')], 'SKIPPED late'],
    ['a status that nobody knows', [success('ping'), check('MAYBE', 'odd')], 'MAYBE odd'],
    ['no check at all', [], 'nothing was checked'],
    ['nothing but remarks', [check('INFO', 'outgoing-request')], 'nothing was checked'],
    ['nothing but the check of what the referee sent', [success('wire-schema-valid')], 'nothing was checked'],
    ['no result', undefined, 'it left no result'],
  ])('is red when a scored scenario has %s', (_what, ping, why) => {
    expect(failures(judge({ ping }))).toContainEqual({ scenario: 'ping', text: why });
  });

  it('is red when checks have silently become fewer', () => {
    expect(failures(judge({ ping: [success('ping')] }))).toEqual([
      { scenario: 'checks', text: '2 were successful in all, expected 3' },
    ]);
  });

  it('is red when a scored scenario has vanished from the list', () => {
    const rest = { listed: { scored: ['tools-list'], unscored: ['tasks-lifecycle'] } };
    expect(failures(judge({ ping: undefined }, rest))).toEqual([
      { scenario: 'scored scenarios', text: '1 are listed, expected 2' },
    ]);
  });

  it('is red when something was run that is in no list', () => {
    expect(failures(judge({ stranger: [success('x')] }))).toEqual([
      { scenario: 'stranger', text: 'it was run but is in no list' },
    ]);
  });

  it.each([
    ['begins to pass', [success('x')], 'it passes, expected that it fails (not scored: no tasks)'],
    ['says nothing', [], 'it says nothing, expected that it fails (not scored: no tasks)'],
    ['leaves no result', undefined, 'it left no result'],
  ])('is red when an unscored scenario %s', (_what, checks, text) => {
    expect(failures(judge({ 'tasks-lifecycle': checks }))).toEqual([{ scenario: 'tasks-lifecycle', text }]);
  });

  it('is red when an unscored scenario vanishes, and when there is a new one', () => {
    const listed = { scored: ['ping', 'tools-list'], unscored: ['new-idea'] };
    expect(failures(judge({ 'tasks-lifecycle': undefined }, { listed }))).toEqual([
      { scenario: 'tasks-lifecycle', text: 'it has vanished from the list of what is not scored' },
      { scenario: 'new-idea', text: 'not scored, and nothing is expected of it' },
    ]);
  });
});

describe('a scored scenario that cannot pass', () => {
  const limits = { ping: { says: ['FAILURE named', 'WARNING late'], why: 'no names there' } };
  const complaints = [check('FAILURE', 'named'), check('WARNING', 'late')];

  it('is noted when it complains of what it is known to complain of', () => {
    const { rows, summary } = judge({ ping: [success('ping'), success('pong'), ...complaints] }, { limits });
    expect(rows[0]).toEqual({
      verdict: 'noted',
      scenario: 'ping',
      text: 'FAILURE named, WARNING late: no names there',
    });
    expect(summary).toBe(
      '1/2 scored scenarios, 3 checks; 1/1 that cannot pass as expected; 1/1 unscored as expected',
    );
  });

  it.each([
    ['passes after all', [], 'nothing'],
    ['complains of less', [check('FAILURE', 'named')], 'FAILURE named'],
    [
      'complains of something else, too',
      [...complaints, check('SKIPPED', 'odd')],
      'FAILURE named; WARNING late; SKIPPED odd',
    ],
  ])('is red when it %s', (_what, found, words) => {
    const text = `it complains of ${words}; expected: FAILURE named, WARNING late (no names there)`;
    const ping = [success('ping'), success('pong'), ...found];
    expect(failures(judge({ ping }, { limits }))).toEqual([{ scenario: 'ping', text }]);
  });

  it('is red when it leaves no result', () => {
    expect(failures(judge({ ping: undefined }, { limits }))).toContainEqual({
      scenario: 'ping',
      text: 'it left no result',
    });
  });

  it('may pass as well if it is known to be unsteady, and its checks are not counted', () => {
    const unsteady = { ping: { ...limits.ping, isUnsteady: true } };
    const passed = judge({ ping: [success('ping'), success('pong')] }, { limits: unsteady });
    expect(passed.rows[0]).toEqual({
      verdict: 'noted',
      scenario: 'ping',
      text: 'passes this time; otherwise FAILURE named, WARNING late: no names there',
    });
    const other = judge({ ping: [success('ping'), check('FAILURE', 'odd')] }, { limits: unsteady });
    expect(failures(other)).toContainEqual({
      scenario: 'ping',
      text: 'it complains of FAILURE odd; expected: FAILURE named, WARNING late (no names there)',
    });
  });
});

describe('a scenario of an extension that the server does not have', () => {
  const hollow = success('wire-schema-valid');
  it('is noted when all of its checks skip themselves', () => {
    expect(judgeSkipped('skills', [check('SKIPPED', 'list'), hollow], 'no skills')).toEqual({
      verdict: 'noted',
      scenario: 'skills',
      text: 'skips itself: no skills',
    });
  });

  it.each([
    ['checks something', [check('SKIPPED', 'list'), success('get'), hollow], '1 of 2'],
    ['checks nothing', [hollow], '0 of 0'],
  ])('is red when it %s', (_what, checks, count) => {
    expect(judgeSkipped('skills', checks, 'no skills')).toEqual({
      verdict: 'failed',
      scenario: 'skills',
      text: `${count} checks skip themselves, expected all (no skills)`,
    });
  });

  it('is red when it leaves no result', () => {
    expect(judgeSkipped('skills', undefined, 'no skills').text).toBe('it left no result');
  });
});

describe('a scenario of the client', () => {
  it('is green when the referee ends well and has checked as much as expected', () => {
    const facts = { exit: undefined, checks: [success('a'), check('SKIPPED', 'b')], successes: 1 };
    expect(judgeClient('tools_call', facts)).toEqual({
      verdict: 'passed',
      scenario: 'tools_call',
      text: '1 check',
    });
  });

  it.each([
    ['the exit code is not 0', { exit: 'exit code 1 after 0.5 s' }, 'exit code 1'],
    ['there is a warning', { checks: [success('a'), check('WARNING', 'late')] }, 'WARNING late'],
    ['nothing was checked', { checks: [] }, '0 checks were successful, expected 1'],
    ['there is no result', { checks: undefined }, 'it left no result'],
    ['nothing is known of it', { successes: undefined }, 'nothing is expected of it'],
  ])('is red when %s', (_what, facts, why) => {
    const row = judgeClient('initialize', {
      exit: undefined,
      checks: [success('a')],
      successes: 1,
      ...facts,
    });
    expect(row).toMatchObject({ verdict: 'failed', text: expect.stringContaining(why) });
  });
});

describe('the run', () => {
  beforeAll(() => ensureInstalled('conformance'), 300_000);

  it('is red when nothing listens, though some scenarios are green to the referee', async () => {
    const port = await freePort();
    const { code, stdout } = await runAgainst(`http://127.0.0.1:${port}/mcp`);
    expect(code).toBe(1);
    expect(stdout).toContain('server 2025-11-25: 0/30 scored scenarios');
    expect(stdout).toContain('server 2026-07-28: 0/46 scored scenarios');
    expect(stdout).toMatch(/\n0 passed, \d+ failed\n$/);
  }, 120_000);

  it('is red when the answers of the modern era have no result type', async () => {
    const endpoint = httpHandler();
    await using _served = await serve(createDemoServer(), endpoint);
    const server = createServer((request, response) => {
      misspell(response, 'resultType', 'resultTypo');
      endpoint.node(request, response);
    });
    const port = await listen(server);
    const { code, stdout } = await runAgainst(`http://127.0.0.1:${port}/mcp`);
    server.close();
    server.closeAllConnections();
    expect(code).toBe(1);
    expect(stdout).toContain('server 2025-11-25: 30/30 scored scenarios');
    expect(stdout).toContain('✗ server 2026-07-28 input-required-result-result-type: FAILURE');
    expect(stdout).not.toContain('46/46');
  }, 120_000);
});

const listed = { scored: ['ping', 'tools-list'], unscored: ['tasks-lifecycle'] };
const expected = {
  scored: 2,
  successes: 3,
  unscored: { 'tasks-lifecycle': { ends: 'fails', why: 'no tasks' } },
};

/** Two scored scenarios and one that is not, all as they should be but for what is given. */
function judge(
  changed: Readonly<Record<string, readonly Check[] | undefined>>,
  facts: {
    listed?: typeof listed;
    limits?: Readonly<Record<string, { readonly says: readonly string[]; readonly why: string }>>;
  } = {},
) {
  const recorded = {
    ping: [success('ping'), success('wire-schema-valid')],
    'tools-list': [success('tools-list'), check('INFO', 'outgoing-request')],
    'tasks-lifecycle': [check('FAILURE', 'declares-tasks')],
    ...changed,
  };
  const results = new Map(
    Object.entries(recorded).flatMap(([name, checks]) => (checks ? [[name, checks] as const] : [])),
  );
  const limits = facts.limits ? { limits: facts.limits } : {};
  return judgeServer({ listed: facts.listed ?? listed, results, expected: { ...expected, ...limits } });
}

function failures({ rows }: ReturnType<typeof judge>) {
  return rows.filter(({ verdict }) => verdict === 'failed').map(({ scenario, text }) => ({ scenario, text }));
}

function check(status: string, id: string): Check {
  return { id, status };
}

function success(id: string): Check {
  return check('SUCCESS', id);
}

/** The runner as `npm run conformance -- --url` starts it. */
function runAgainst(url: string): Promise<Ended> {
  const cwd = fileURLToPath(new URL('../../', import.meta.url));
  return runProgram(process.execPath, ['conformance/run.js', '--url', url], { cwd, limitMs: 100_000 });
}

/** Puts a word of the same length in the place of another, in everything that is written. */
function misspell(response: ServerResponse, right: string, wrong: string): void {
  for (const name of ['write', 'end'] as const) {
    const say = response[name] as (this: ServerResponse, ...args: unknown[]) => unknown;
    const spoilt = (...args: unknown[]) =>
      say.apply(
        response,
        args.map((arg) => (typeof arg === 'string' ? arg.replaceAll(right, wrong) : arg)),
      );
    Object.assign(response, { [name]: spoilt });
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}
