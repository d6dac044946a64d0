import { beforeAll, describe, expect, it } from 'vitest';
import { CLIENT_CHECKS } from '../../../src/client/catalogue.js';
import type { ClientFacts } from '../../../src/client/checks/check.js';
import type { ClientTranscript } from '../../../src/client/model.js';
import { type ClientReport, checkClient } from '../../../src/client/run/check-client.js';
import { factsOf, judge, viewsOf } from '../../../src/client/run/judge.js';
import { SCENARIOS } from '../../../src/client/scenarios/index.js';
import type { Finding } from '../../../src/model.js';
import { RULES } from '../../../src/rules/index.js';
import type { Mutant } from '../../support/client/mutant.js';
import { ownClient } from '../../support/client/own-client.js';
import { MUTANTS } from '../mutants/index.js';

const ours = { label: 'ours', version: '0', jobs: 16 };
let report: ClientReport;
let known: ClientFacts;

beforeAll(async () => {
  report = await checkClient({ ...ours, player: ownClient(), auth: true });
  known = factsOf(report.transcripts);
});

describe('Our own client', () => {
  it('holds every MUST and SHOULD that is asked of clients, over stdio and HTTP, with and without a login', () => {
    expect(broken(report.findings)).toEqual([]);
    expect(skipped(report.findings)).toEqual([
      'negotiation/era-not-spoken', // It speaks both.
      'messages/progress-tokens', // Nobody asked it for progress.
      'messages/undeclared-roots', // It has roots.
      'robustness/retry-new-id', // It never repeats what may have run.
      'tasks/legacy-poll-interval', // It waits in tasks/result.
    ]);
    expect(report.grade.letter).toBe('A+');
  });

  it('holds what applies when it insists on the modern era', async () => {
    const { findings } = await checkClient({
      ...ours,
      // With one era, it waits for a silent server as long as it may take to connect.
      player: ownClient({ mode: 'modern', connectTimeoutMs: 6000 }),
      eras: ['modern'],
    });
    expect(broken(findings)).toEqual([]);
  });

  it('holds what applies when it insists on the legacy era, but for the probe that it was told to leave out', async () => {
    const { findings } = await checkClient({ ...ours, player: ownClient({ mode: 'legacy' }) });
    expect(broken(findings)).toEqual([
      expect.stringMatching(/^warn negotiation\/probe-first: initialize came first/),
    ]);
  });

  it('is not blamed when it knows nothing of the steps', async () => {
    const only = ['cancel', 'cache', 'headers', 'rounds', 'robustness'];
    const { findings } = await checkClient({ ...ours, player: ownClient({}, { steps: false }), only });
    expect(broken(findings)).toEqual([]);
    expect(skipped(findings)).toContain('cancel/modern-http');
  });

  it('holds what applies when it can answer nothing', async () => {
    const only = ['rounds', 'messages'];
    const { findings } = await checkClient({ ...ours, player: ownClient({ answers: {} }), only });
    expect(broken(findings)).toEqual([]);
    expect(skipped(findings)).toContain('rounds/answered');
    expect(findings.find(({ id }) => id === 'messages/undeclared-roots')?.outcome).toBe('pass');
  });
});

describe('The catalogue', () => {
  it('names each check once, with rules that exist or a reason', () => {
    const ids = CLIENT_CHECKS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(195);
    const unknown = CLIENT_CHECKS.flatMap(({ id, rules }) =>
      rules.filter((rule) => !RULES.has(rule)).map((rule) => `${id}: ${rule}`),
    );
    expect(unknown).toEqual([]);
    expect(
      CLIENT_CHECKS.filter(({ rules, reason }) => rules.length === 0 && !reason).map(({ id }) => id),
    ).toEqual([]);
    expect(CLIENT_CHECKS.filter(({ id, suite }) => !id.startsWith(`${suite}/`)).map(({ id }) => id)).toEqual(
      [],
    );
  });

  it('looks at scenarios that exist, and at each of them', () => {
    const names = SCENARIOS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const looked = CLIENT_CHECKS.flatMap(({ on }) => (on === 'all' ? [] : on));
    expect(looked.filter((name) => !names.includes(name))).toEqual([]);
    expect(names.filter((name) => !looked.includes(name))).toEqual([]);
  });

  it('has a broken client for every check', () => {
    const caught = new Set(MUTANTS.map(({ check }) => check));
    expect(CLIENT_CHECKS.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});

describe('A baseline', () => {
  const accepted = [{ check: 'negotiation/dual' }];
  const only = ['negotiation/dual'];

  it('excuses what it lists', async () => {
    const player = async () => ({ code: 1, late: false, stderr: '' });
    const baseline = { version: 1, accepted } as const;
    const { counts, stale } = await checkClient({ ...ours, player, only, baseline, eras: ['legacy'] });
    expect(counts).toMatchObject({ fail: 0, accepted: 1 });
    expect(stale).toEqual([]);
  });

  it('is stale when what it lists holds', async () => {
    const { stale } = await checkClient({
      ...ours,
      player: ownClient(),
      only,
      baseline: { version: 1, accepted },
    });
    expect(stale).toEqual(['negotiation/dual holds now: remove it from the baseline']);
  });
});

describe('A client that', () => {
  it.each(MUTANTS)('$fault is caught by $check', (mutant) => {
    const good = mutant.first?.(recordFor(mutant)) ?? recordFor(mutant);
    expect(verdict(mutant, good)).toBe('pass');
    expect(verdict(mutant, mutant.breaking(good))).toMatch(/^(fail|warn)$/);
  });
});

function recordFor({ check, scenario, over }: Mutant): ClientTranscript {
  const found = CLIENT_CHECKS.find(({ id }) => id === check)!;
  const name = scenario ?? (found.on === 'all' ? undefined : found.on[0]);
  const transport = over ?? found.over?.[0];
  return report.transcripts.find(
    (each) => each.scenario === name && (transport === undefined || each.over === transport),
  )!;
}

function verdict({ check, facts }: Mutant, transcript: ClientTranscript): Finding['outcome'] {
  const found = CLIENT_CHECKS.find(({ id }) => id === check)!;
  return judge(found, viewsOf([transcript]), { ...known, ...facts }).outcome;
}

/** Everything that is not in order, with what was seen. */
function broken(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip')
    .map(({ outcome, id, seen, expected }) => `${outcome} ${id}: ${seen} (expected: ${expected})`);
}

function skipped(findings: readonly Finding[]): string[] {
  return findings.filter(({ outcome }) => outcome === 'skip').map(({ id }) => id);
}
