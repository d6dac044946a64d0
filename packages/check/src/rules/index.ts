/** The rule book: what the specification demands, by id. It is data: packages/check/rules.json, read once. */
import { readFileSync } from 'node:fs';
import type { Rule } from './rule.js';

export type { Rule } from './rule.js';

const FILE = new URL('../../rules.json', import.meta.url);

/** In the order of the specification, more or less. */
export const RULES: ReadonlyMap<string, Rule> = new Map(
  (JSON.parse(readFileSync(FILE, 'utf8')) as Rule[]).map((rule) => [rule.id, rule]),
);

/** Throws for an unknown id: a check that cites it has a mistake. */
export function ruleOf(id: string): Rule {
  const rule = RULES.get(id);
  if (rule === undefined) throw new Error(`There is no rule ${id}`);
  return rule;
}
