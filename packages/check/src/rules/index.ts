/** The rule book: what the specification demands, by id. It is data: packages/check/rules.json, read once. */

import { readFileSync } from 'node:fs';
import type { LegacyRevision, ModernRevision } from '@isthmus/sdk/internal/era/revisions.js';

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

/** One requirement of the specification, in our words. */
export interface Rule {
  readonly id: string;
  readonly era: 'legacy' | 'modern' | 'both';
  /** Where it does not hold in all revisions of its era. */
  readonly versions?: readonly (LegacyRevision | ModernRevision)[];
  readonly level: 'MUST' | 'MUST NOT' | 'SHOULD' | 'SHOULD NOT' | 'MAY';
  /** Who has to keep it. */
  readonly actor: 'server' | 'client' | 'both' | 'host' | 'intermediary';
  readonly rule: string;
  /** Pages of the specification and their sections; the first says it best. */
  readonly source: string;
}

/** What a rule says, and where the specification says it. */
export interface Citation {
  readonly id: string;
  readonly level: string;
  readonly says: string;
  /** Absent for what has no page at a stable address. */
  readonly url?: string;
}

/** The rules that are known of these ids, in their order. */
export function cite(ids: readonly string[]): Citation[] {
  return ids.flatMap((id) => {
    const rule = RULES.get(id);
    if (!rule) return [];
    const url = pagesOf(rule)
      .map(addressOf)
      .find((each) => each !== undefined);
    return [{ id, level: rule.level, says: rule.rule, ...(url !== undefined && { url }) }];
  });
}

/** The pages that a rule is from, the best one first. */
export function pagesOf({ source }: Rule): string[] {
  return source.split(';').map((part) => part.split('§')[0]!.trim());
}

/** The address of a page that a rule is from. */
export function addressOf(page: string): string | undefined {
  const [, revision, path] = /^(\d{4}-\d\d-\d\d)\/(.+?)(?:\/index)?\.mdx$/.exec(page) ?? [];
  if (revision !== undefined) return `${SITE}/specification/${revision}/${path}`;
  const [, schema] = /^schema\/(\d{4}-\d\d-\d\d)\/schema\.ts$/.exec(page) ?? [];
  if (schema !== undefined) return `${SITE}/specification/${schema}/schema`;
  const [, tutorial] = /^docs\/docs\/\d{4}-\d\d-\d\d\/(.+)\.mdx$/.exec(page) ?? [];
  if (tutorial !== undefined) return `${SITE}/docs/${tutorial}`;
  const [, proposal] = /^seps\/(.+)\.md$/.exec(page) ?? [];
  return proposal === undefined ? undefined : `${SITE}/seps/${proposal}`;
}

const SITE = 'https://modelcontextprotocol.io';

/**
 * Whether no rule of the specification demands it: then it is our opinion, for which there is a reason. It counts as a
 * SHOULD, which only the letter A+ needs, and it is marked wherever it is shown.
 */
export function isOpinion({ rules }: { readonly rules: readonly string[] }): boolean {
  return rules.length === 0;
}

/** The level as readers see it. */
export function levelInWords(about: { readonly level: string; readonly rules: readonly string[] }): string {
  return isOpinion(about) ? `${about.level} (opinion)` : about.level;
}
