import { fileURLToPath } from 'node:url';
import { type CheckOptions, checkServer, commandTarget, type Finding } from '@isthmus/check';
import { describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(
  new URL('../../packages/check/test/suites/mutants/programs/small-server.js', import.meta.url),
);

describe('C4: one cause is one finding', { timeout: 90_000 }, () => {
  it('C4: a server whose tools/list fails is blamed for that alone (TOOL-002)', async () => {
    const findings = await judge('list-fails', [
      'tools/list-answered',
      'pages/*',
      'discover/not-needed',
      'era/speaks-*',
    ]);
    expect(broken(findings)).toEqual(['tools/list-answered (modern)']);
    const [chief] = findings.filter(({ consequences }) => consequences !== undefined);
    expect(chief?.consequences).toContain('discover/not-needed (modern)');
    expect(chief?.consequences).toContain('era/speaks-2025-11-25 (legacy)');
    expect(chief?.consequences).toContain('tools/list-answered (legacy)');
    expect(find(findings, 'discover/not-needed')).toMatchObject({
      outcome: 'skip',
      causedBy: 'tools/list-answered (modern)',
      seen: 'not judged separately: tools/list fails (error -32603: The list is broken); see tools/list-answered (modern). Seen: tools/list as the first request had no result: error -32603: The list is broken',
    });
  });

  it('C4: a server whose tools/list is never answered is not waited for each time', async () => {
    const findings = await judge('list-hangs', ['tools/list-answered', 'pages/*', 'capabilities/*']);
    expect(broken(findings)).toEqual(['tools/list-answered (modern)']);
    const waited = findings.filter(({ id }) => id.startsWith('pages/')).map(({ ms }) => ms);
    expect(Math.max(...waited)).toBeLessThan(3000);
  });

  it('C4: a banner on stdout counts once, in both eras together (STDIO-004)', async () => {
    const findings = await judge('banner', [
      'stream/only-messages*',
      'lifetime/stdout-is-pure',
      'end-of-input/half-line',
    ]);
    // The other fault of this server is that it answers the id null.
    const banner = findings.filter(({ outcome, seen }) => outcome !== 'skip' && /small server/.test(seen));
    expect(broken(banner)).toEqual(['stream/only-messages (modern)']);
    expect(banner[0]?.consequences).toEqual(
      expect.arrayContaining([
        'end-of-input/half-line',
        'stream/only-messages (legacy)',
        'lifetime/stdout-is-pure',
      ]),
    );
  });

  it('C4: errors without their ids break one check, and the others judge what the errors say (JRPC-009)', async () => {
    const findings = await judge('error-ids', [
      'errors/unknown-method',
      'errors/legacy-unknown-method',
      'errors/no-s*',
      'capabilities/completions-gated',
      'envelope/error-has-id',
      'ids/every-method',
    ]);
    expect(broken(findings)).toEqual(['envelope/error-has-id (modern)']);
    expect(find(findings, 'envelope/error-has-id')?.consequences).toEqual([
      'ids/every-method (modern)',
      'ids/every-method (legacy)',
      'envelope/error-has-id (legacy)',
    ]);
    expect(find(findings, 'errors/unknown-method')).toMatchObject({ outcome: 'pass' });
  });

  it('C4: what was found alone stays a failure', async () => {
    expect(broken(await judge('list-fails', ['discover/not-needed']))).toEqual([
      'discover/not-needed (modern)',
    ]);
  });
});

async function judge(
  fault: string,
  only: readonly string[],
  more: CheckOptions = {},
): Promise<readonly Finding[]> {
  const report = await checkServer(commandTarget({ command: process.execPath, args: [PROGRAM, fault] }), {
    only,
    seed: 1,
    patience: { quietMs: 50 },
    ...more,
  });
  return report.findings;
}

function broken(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ outcome }) => outcome === 'fail' || outcome === 'warn' || outcome === 'error')
    .map(({ id, era }) => (era === undefined ? id : `${id} (${era})`));
}

function find(findings: readonly Finding[], id: string): Finding | undefined {
  return findings.find((finding) => finding.id === id);
}
