import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ISTHMUS } from '../../../../test/support/child.js';
import type { ClientReport } from '../../../check/src/client/run/check-client.js';
import { freeFolder, isthmus } from '../support/isthmus.js';

const client = (name: string) =>
  fileURLToPath(new URL(`../../../check/test/client/clients/${name}.mjs`, import.meta.url));

async function report(options: readonly string[], ...words: string[]) {
  const { stdout, stderr, code } = await isthmus('check-client', '--json', ...options, '--', ...words);
  const found = (stdout === '' ? undefined : JSON.parse(stdout)) as ClientReport | undefined;
  const outcomes = Object.fromEntries((found?.findings ?? []).map(({ id, outcome }) => [id, outcome]));
  return { code, stderr, outcomes, report: found };
}

const only = (...names: string[]) => names.flatMap((name) => ['--only', name]);

describe('isthmus check-client', () => {
  it('passes our own client in a process of its own, with servers that it starts and that it calls', async () => {
    const names = ['dual', 'probe-dies', 'slow-exit', 'cancel-modern', 'param-headers'];
    const {
      code,
      outcomes,
      report: found,
    } = await report(
      [...only(...names), '--fail-on', 'should', '--jobs', '3'],
      process.execPath,
      client('isthmus'),
      '{server}',
    );
    expect(found?.findings.filter(({ outcome }) => outcome === 'fail' || outcome === 'warn')).toEqual([]);
    expect(outcomes).toMatchObject({
      'negotiation/dual': 'pass',
      'negotiation/probe-dies': 'pass',
      'cancel/modern-stdio': 'pass',
      'cancel/modern-http': 'pass',
      'headers/param-encoded': 'pass',
      'shutdown/waits': 'pass',
      'shutdown/stays-for-it': 'pass',
    });
    expect(found?.transcripts.map(({ scenario, over }) => `${scenario} ${over}`)).toContain(
      'slow-exit stdio',
    );
    expect(code).toBe(0);
  });

  it('passes isthmus call, whose server is the rest of its words', async () => {
    const { code, outcomes } = await report(
      ['--over', 'stdio', ...only('negotiation/dual')],
      ...[process.execPath, ISTHMUS, 'call', 'echo', 'text=hi', '--', '{command...}'],
    );
    expect(outcomes).toEqual({ 'negotiation/dual': 'pass' });
    expect(code).toBe(0);
  });

  it.each([
    ['logs-to-the-pipe', 'messages/only-messages', 'fail', 1],
    ['kills-its-server', 'shutdown/closes-input', 'warn', 0],
  ])('catches a client that %s', async (fault, check, outcome, expected) => {
    const { code, outcomes } = await report(
      ['--over', 'stdio', ...only('legacy-2025-11-25', 'negotiation/legacy-2025-11-25', check)],
      ...[process.execPath, client('broken'), fault],
    );
    expect(outcomes).toMatchObject({ 'negotiation/legacy-2025-11-25': 'pass', [check]: outcome });
    expect(code).toBe(expected);
  });

  it('AUTH-047, AUTH-048: logs in with the browser that it finds, in a process of its own', async () => {
    const {
      code,
      outcomes,
      report: found,
    } = await report(
      ['--jobs', '3', ...only('login-sound', 'login-shell-page', 'login-script-page', 'login-given-client')],
      ...[process.execPath, client('isthmus'), '{url}'],
    );
    expect(found?.findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip')).toEqual([]);
    expect(outcomes).toMatchObject({
      'login/works': 'pass',
      'login/bearer': 'pass',
      'login/pages': 'pass',
      'login/no-shell': 'pass',
      'login/given-client': 'pass',
      'login/stored-privately': 'pass',
    });
    expect(code).toBe(0);
  });

  it('AUTH-048: catches a client that opens pages with a shell', async () => {
    const { code, outcomes } = await report(
      only('login-shell-page', 'login/no-shell'),
      ...[process.execPath, client('opens-with-a-shell'), '{url}'],
    );
    expect(outcomes).toEqual({ 'login/no-shell': 'fail' });
    expect(code).toBe(1);
  });

  it('AUTH-007: passes isthmus call with a browser', async () => {
    const { code, outcomes } = await report(
      [...only('login-sound', 'login/works', 'login/pkce', 'login/bearer')],
      // With a home of its own: the login must not be there for a later server at the same port.
      ...['env', `HOME=${freeFolder()}`, process.execPath, ISTHMUS],
      ...['call', '{url}', 'echo', 'text=hi', '--auth', 'browser'],
    );
    expect(outcomes).toEqual({
      'login/works': 'pass',
      'login/pkce': 'pass',
      'login/bearer': 'pass',
    });
    expect(code).toBe(0);
  });

  it('sees the server that a client leaves behind, and takes it away', async () => {
    const { outcomes, report: found } = await report(
      ['--over', 'stdio', ...only('stubborn', 'shutdown/nothing-left')],
      ...[process.execPath, client('broken'), 'leaves-its-server'],
    );
    expect(outcomes).toMatchObject({ 'shutdown/nothing-left': 'warn' });
    const { life: pid } = found!.transcripts[0]!.entries[0]!;
    await expect.poll(() => isThere(pid)).toBe(false);
  });

  it('gives a client that hangs its time and no more', async () => {
    const {
      code,
      outcomes,
      report: found,
    } = await report(
      ['--over', 'stdio', '--timeout', '700', '--era', 'legacy', ...only('negotiation/dual')],
      ...[process.execPath, client('broken'), 'hangs'],
    );
    expect(outcomes).toEqual({ 'negotiation/dual': 'error' });
    expect(found?.findings[0]?.seen).toMatch(
      /^Undecided, since the time limit of this check expired: The client did not call the tool: it sent nothing, and it had not ended after \d+ ms, with dual over stdio$/,
    );
    expect(code).toBe(1);
  });

  it('says what a client without a place for the server misses', async () => {
    const { outcomes, report: found } = await report(
      only('robustness/noise', 'negotiation/gives-up', 'noise', 'no-common-version'),
      ...[process.execPath, '-e', 'process.exit(1)'],
    );
    expect(outcomes).toEqual({ 'robustness/noise': 'skip', 'negotiation/gives-up': 'pass' });
    expect(found?.findings.find(({ id }) => id === 'robustness/noise')?.seen).toBe(
      'The client command has no {command} or {server} for the command line of the server',
    );
  });

  it('explains a report to people', async () => {
    const { stdout, code } = await isthmus(
      ...['check-client', '--over', 'stdio', '--only', 'messages/initialized', '--only', 'dual', '--'],
      ...[process.execPath, client('broken'), 'forgets-initialized'],
    );
    expect(stdout).toContain('✗ Sends notifications/initialized after the handshake');
    expect(stdout).toContain('The client continued without notifications/initialized');
    expect(stdout).toContain('messages/initialized');
    expect(stdout).toContain('FAILED: 1 MUST is broken');
    expect(code).toBe(1);
  });

  it('refuses invalid options', async () => {
    const run = async (...words: string[]) => {
      const { stderr, code } = await isthmus('check-client', ...words);
      return { stderr, code };
    };
    const nobody = await run();
    expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining('No client given') });
    const unknown = await run('--only', 'negotiation/dua', '--', 'true', '{server}');
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean negotiation/dual?'),
    });
    const nowhere = await run('--over', 'http', '--', 'true', '{command}');
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('no {url} or {server}') });
    const absent = await run(
      '--only',
      'negotiation/dual',
      '--over',
      'http',
      '--',
      'no-such-client',
      '{server}',
    );
    expect(absent).toMatchObject({ code: 3, stderr: expect.stringContaining('not found') });
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
