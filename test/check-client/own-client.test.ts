import { describe, expect, it } from 'vitest';
import { CLIENT_CHECKS } from '../../src/check/client/checks/index.js';
import { checkClient } from '../../src/check/client/run/check-client.js';
import type { Finding } from '../../src/check/model.js';
import { ownClient } from './support/own-client.js';

/** Everything that is not in order, with what was seen. */
function broken(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip')
    .map(({ outcome, id, seen, expected }) => `${outcome} ${id}: ${seen} (expected: ${expected})`);
}

function skipped(findings: readonly Finding[]): string[] {
  return findings.filter(({ outcome }) => outcome === 'skip').map(({ id }) => id);
}

describe('Our own client', () => {
  it('holds every MUST and SHOULD that is asked of clients, over stdio and HTTP', async () => {
    const { findings, grade } = await checkClient({
      player: ownClient(),
      label: 'ours',
      version: '0',
      jobs: 12,
    });
    expect(broken(findings)).toEqual([]);
    expect(skipped(findings)).toEqual([
      'negotiation/era-not-spoken', // It speaks both.
      'messages/progress-tokens', // Nobody asked it for progress.
      'messages/undeclared-roots', // It has roots.
      'robustness/retry-new-id', // It never repeats what may have run.
    ]);
    expect(findings).toHaveLength(CLIENT_CHECKS.length);
    expect(grade.letter).toBe('A+');
  });

  it.each(['modern', 'legacy'] as const)('holds what applies when it insists on the %s era', async (mode) => {
    const { findings } = await checkClient({
      player: ownClient({ mode }),
      label: 'ours',
      version: '0',
      jobs: 12,
      eras: [mode],
    });
    expect(broken(findings)).toEqual([]);
  });

  it('holds what applies when it can answer nothing', async () => {
    const { findings } = await checkClient({
      player: ownClient({ answers: {} }),
      label: 'ours',
      version: '0',
      jobs: 12,
      only: ['rounds', 'messages', 'legacy-asks'],
    });
    expect(broken(findings)).toEqual([]);
    expect(skipped(findings)).toContain('rounds/answered');
  });
});
