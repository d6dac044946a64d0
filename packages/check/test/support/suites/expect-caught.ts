import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CHECKS, type CheckOptions, checkServer, commandTarget } from '../../../src/index.js';
import type { CheckTarget } from '../../../src/wire/targets.js';
import { demoTarget } from './demo-target.js';
import { demoHttpTarget, proxyTarget } from './http-proxy.js';
import type { AnyMutant, HttpBase } from './mutant.js';
import { middleTarget } from './stream-middle.js';
import { tcpTarget } from './tcp-middle.js';

/** Mutants are impatient: what they leave undone, they never do. */
export const IN_A_HURRY: CheckOptions = {
  seed: 1,
  fuzzRuns: 30,
  patience: { helloMs: 10_000, answerMs: 3000, quietMs: 100, checkMs: 10_000 },
};

/** One test for each mutant: the check that is named fails on it, and says so in words. */
export function expectCaught(title: string, mutants: readonly AnyMutant[]): void {
  describe(title, () => {
    it.concurrent.each(mutants.map((mutant) => [mutant.check, mutant.fault, mutant] as const))(
      '%s fails on a server that %s',
      async (check, _fault, mutant) => {
        const { target, close } = await targetOf(mutant);
        try {
          const report = await checkServer(target, {
            ...IN_A_HURRY,
            ...onlyItsEra(check),
            ...onlyAFewTools(check),
            ...mutant.options,
            only: [check],
          });
          const broken = report.findings.filter(
            ({ outcome, era }) =>
              (outcome === 'fail' || outcome === 'warn') && (mutant.era === undefined || era === mutant.era),
          );
          expect(broken, JSON.stringify(report.findings, null, 1)).not.toEqual([]);
          expect(broken[0]!.expected).not.toBe('');
          if (mutant.seen) expect(broken.map(({ seen }) => seen).join('\n')).toMatch(mutant.seen);
        } finally {
          await close();
        }
      },
    );
  });
}

/** Half of the work, where a check is about one era. */
function onlyItsEra(id: string): CheckOptions {
  const { era, suite } = CHECKS.find((check) => check.id === id) ?? {};
  return suite !== 'era' && !id.startsWith('http-modern/') && (era === 'modern' || era === 'legacy')
    ? { eras: [era] }
    : {};
}

/** A short way in, for checks that do not live on what tools do there. */
function onlyAFewTools(id: string): CheckOptions {
  return /^(rounds|questions|progress|logging|cancellation|subscriptions|listening|shapes|exchanges|results|http-(streams|resume|session|legacy))/.test(
    id,
  )
    ? {}
    : { visit: ['echo', 'add', 'test_simple_text', 'test_embedded_resource', 'test_error_handling'] };
}

/** The same checks hold on the demo itself, wherever they apply; each applies somewhere. */
export function expectSound(title: string, checks: readonly string[], options: CheckOptions = {}): void {
  describe(title, () => {
    it.concurrent.each([
      ['on streams', demoTarget],
      ['at a URL', demoHttpTarget],
    ] as const)('hold for the demo %s', async (_where, open) => {
      const { target, close } = await open();
      try {
        const report = await checkServer(target, { ...IN_A_HURRY, ...options, only: checks });
        expect(report.findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip')).toEqual([]);
      } finally {
        await close();
      }
    });
  });
}

/** The same checks hold at these addresses. */
export function expectSoundAt(
  title: string,
  checks: readonly string[],
  bases: Readonly<Record<string, HttpBase>>,
): void {
  describe(title, () => {
    it.concurrent.each(Object.entries(bases))('hold for %s', async (_where, open) => {
      const { target, close } = await open();
      try {
        const report = await checkServer(target, { ...IN_A_HURRY, only: checks });
        expect(report.findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip')).toEqual([]);
        expect(report.counts.pass).toBeGreaterThan(0);
      } finally {
        await close();
      }
    });
  });
}

async function targetOf(mutant: AnyMutant): Promise<{ target: CheckTarget; close(): Promise<void> }> {
  if ('middle' in mutant) return middleTarget(mutant.middle);
  if ('proxy' in mutant) return proxyTarget(mutant.proxy, mutant.base);
  if ('tcp' in mutant) return tcpTarget(mutant.tcp, mutant.base);
  const [file, ...args] = mutant.program;
  const path = fileURLToPath(new URL(`../../suites/mutants/programs/${file}`, import.meta.url));
  return {
    target: commandTarget({ command: process.execPath, args: [path, ...args] }),
    close: async () => {},
  };
}
