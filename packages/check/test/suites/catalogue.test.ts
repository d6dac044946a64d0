import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { CHECKS, SUITES } from '../../src/index.js';
import { RULES } from '../../src/rules/index.js';
import type { AnyMutant } from '../support/suites/mutant.js';

describe('the catalogue of checks', () => {
  it('has at least 150, and some in every suite', () => {
    expect(CHECKS.length).toBeGreaterThanOrEqual(150);
    for (const suite of SUITES) expect(CHECKS.some((check) => check.suite === suite)).toBe(true);
  });

  it('names each of them once', () => {
    const ids = CHECKS.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z0-9-]+\/[a-z0-9-]+$/.test(id))).toEqual([]);
  });

  it('cites rules that there are, or says why', () => {
    expect(
      CHECKS.flatMap(({ id, rules }) =>
        rules.filter((rule) => !RULES.has(rule)).map((rule) => `${id}: ${rule}`),
      ),
    ).toEqual([]);
    expect(CHECKS.filter(({ rules, reason }) => rules.length === 0 && !reason).map(({ id }) => id)).toEqual(
      [],
    );
  });

  it('fails no server with a MUST that is not a MUST in the rule book', () => {
    const invented = CHECKS.filter(
      ({ level, rules }) =>
        level === 'MUST' && !rules.some((rule) => /^MUST/.test(RULES.get(rule)?.level ?? '')),
    );
    expect(invented.map(({ id }) => id)).toEqual([]);
  });

  it('says how to fix what is broken', () => {
    expect(
      CHECKS.filter(({ hint, title }) => hint.length < 10 || title.length < 10).map(({ id }) => id),
    ).toEqual([]);
  });

  it('has a broken server for every check', async () => {
    const mutants = await readMutants();
    const caught = new Set(mutants.map(({ check }) => check));
    expect(CHECKS.filter(({ id }) => !caught.has(id)).map(({ id }) => id)).toEqual([]);
    const known = new Set(CHECKS.map(({ id }) => id));
    expect(mutants.filter(({ check }) => !known.has(check)).map(({ check }) => check)).toEqual([]);
  });
});

/** All lists of mutants that the files of that folder export. */
async function readMutants(): Promise<AnyMutant[]> {
  const folder = new URL('./mutants/', import.meta.url);
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts'));
  const modules = await Promise.all(files.map((file) => import(new URL(file, folder).href)));
  return modules.flatMap((module: Record<string, unknown>) =>
    Object.values(module).flatMap((value) => (Array.isArray(value) ? (value as AnyMutant[]) : [])),
  );
}
