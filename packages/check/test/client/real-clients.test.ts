/** A fast part of the scoreboard: six real clients with their defaults. `npm run scoreboard` shows them every server. */
import { beforeAll, describe, expect, it } from 'vitest';
import { judgeClient } from '../../../../scoreboard/judge.js';
import { brokenMusts } from '../../../../scoreboard/page.js';
import { REAL_CLIENTS } from '../../../../scoreboard/real-clients.js';
import { readReasons } from '../../../../scoreboard/reasons.js';
import { ensureInstalled } from '../../../../scripts/setup.js';

/** Ordinary servers, and those that had made sound clients look broken. None of them lets a client wait for long. */
const SERVERS = ['dual', 'legacy-2025-11-25', 'legacy-2024-11-05', 'modern-only', 'http-401', 'session-lost'];

// Where npm cannot get them, there is nothing to run.
const problem = await ensureInstalled('scoreboard').then(
  () => undefined,
  (error: Error) => error.message,
);
if (problem !== undefined) console.warn(`The real clients are left out: ${problem}`);

describe.runIf(problem === undefined)('C1: the real client', () => {
  let reasons: ReturnType<typeof readReasons>;
  beforeAll(() => {
    reasons = readReasons();
  });

  it.each(REAL_CLIENTS)(
    'C1: $name breaks no MUST but those whose reason is known',
    {
      timeout: 240_000,
    },
    async (client) => {
      const report = await judgeClient(client, { only: SERVERS, jobs: 2 });
      const known = reasons.filter(({ peers }) => peers.includes(client.name)).map(({ check }) => check);
      expect(brokenMusts(report).filter((check) => !known.includes(check))).toEqual([]);
      expect(report.findings.filter(({ outcome }) => outcome === 'error').map(({ id }) => id)).toEqual([]);
      expect(report.counts.pass).toBeGreaterThan(20);
    },
  );
});
