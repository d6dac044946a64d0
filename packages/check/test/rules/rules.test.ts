import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { CLIENT_CHECKS } from '../../src/client/catalogue.js';
import { coverage, type Row, rulesPage } from '../../src/rules/coverage.js';
import { RULES, ruleOf } from '../../src/rules/index.js';
import { UNOBSERVABLE_RULES } from '../../src/rules/unobservable.js';
import { CHECKS } from '../../src/suites/index.js';

const rows = coverage(CHECKS, CLIENT_CHECKS);

describe('the rule book', () => {
  it('has 640 rules, and says so when one is cited that it does not have', () => {
    expect(RULES.size).toBe(640);
    expect(ruleOf('STDIO-004')).toEqual({
      id: 'STDIO-004',
      era: 'both',
      level: 'MUST NOT',
      actor: 'server',
      rule: 'stdout carries nothing but valid MCP messages.',
      source: '2026-07-28/basic/transports/stdio.mdx § stdio (intro)',
    });
    expect(() => ruleOf('STDIO-999')).toThrow('There is no rule STDIO-999');
  });

  it('excuses only rules that bind servers', () => {
    const odd = [...UNOBSERVABLE_RULES.keys()].filter((id) => {
      const { actor, level } = ruleOf(id);
      return level === 'MAY' || !['server', 'both'].includes(actor);
    });
    expect(odd).toEqual([]);
  });
});

describe('coverage', () => {
  const standing = (id: string, found: readonly Row[]) => found.find(({ rule }) => rule.id === id);

  it('tells what is covered, by which checks', () => {
    const found = coverage([
      { id: 'a', rules: ['STDIO-004', 'JRPC-001'] },
      { id: 'b', rules: ['STDIO-004'] },
    ]);
    expect(standing('STDIO-004', found)).toMatchObject({ standing: 'covered', checks: ['a', 'b'] });
    expect(standing('JRPC-002', found)).toMatchObject({ standing: 'open', checks: [] });
  });

  it('tells whose matter it is otherwise', () => {
    const found = coverage([{ id: 'a', rules: ['STDIO-005'] }], [{ id: 'c', rules: ['STDIO-005'] }]);
    expect(standing('STDIO-005', found)).toMatchObject({ standing: 'client', clientChecks: ['c'] });
    expect(standing('TOOL-027', found)).toMatchObject({ standing: 'host' });
    expect(standing('HTTP-060', found)).toMatchObject({ standing: 'intermediary' });
    expect(standing('STDIO-006', found)).toMatchObject({ standing: 'optional' });
    expect(standing('AUTH-016', found)).toMatchObject({ standing: 'authorization server' });
    expect(standing('AUTH-018', found)).toMatchObject({ standing: 'client', clientChecks: [] });
    expect(standing('JSCH-005', found)).toMatchObject({
      standing: 'unobservable',
      why: 'It is about documentation.',
    });
  });
});

describe('the checks', () => {
  it('cite only rules that exist', () => {
    const unknown = [...CHECKS, ...CLIENT_CHECKS].flatMap(({ id, rules }) =>
      rules.filter((rule) => !RULES.has(rule)).map((rule) => `${id} cites ${rule}`),
    );
    expect(unknown).toEqual([]);
  });

  it('cover no rule that cannot be seen', () => {
    const seen = rows.filter(({ rule, checks }) => checks.length > 0 && UNOBSERVABLE_RULES.has(rule.id));
    expect(seen.map(({ rule, checks }) => `${rule.id} is held by ${checks.join(', ')}`)).toEqual([]);
  });

  it('hold servers to every rule that can be seen, but for these', () => {
    const open = rows.filter(({ standing }) => standing === 'open');
    expect(open.map(({ rule }) => `${rule.level} ${rule.id}`)).toEqual(['SHOULD SAMP-014']);
  });

  it('are those of docs/check-rules.md; node scripts/check-rules.js writes it', async () => {
    const page = await readFile(new URL('../../../../docs/check-rules.md', import.meta.url), 'utf8');
    expect(page).toBe(`${rulesPage(rows)}\n`);
  });
});
