/** The rule book: the requirements of the specification, by id, from packages/check/rules.json. */

import { readFileSync } from 'node:fs';
import type { LegacyRevision, ModernRevision } from '@isthmus/sdk/internal/era/revisions.js';

const FILE = new URL('../../rules.json', import.meta.url);

/** Roughly in the order of the specification. */
export const RULES: ReadonlyMap<string, Rule> = new Map(
  (JSON.parse(readFileSync(FILE, 'utf8')) as Rule[]).map((rule) => [rule.id, rule]),
);

/** Throws for an unknown id: the check that cites it is wrong. */
export function ruleOf(id: string): Rule {
  const rule = RULES.get(id);
  if (rule === undefined) throw new Error(`There is no rule ${id}`);
  return rule;
}

/** One requirement of the specification, in our words. */
export interface Rule {
  readonly id: string;
  readonly era: 'legacy' | 'modern' | 'both';
  /** Set if the rule holds only in some revisions of its era. */
  readonly versions?: readonly (LegacyRevision | ModernRevision)[];
  readonly level: 'MUST' | 'MUST NOT' | 'SHOULD' | 'SHOULD NOT' | 'MAY';
  /** The party that the rule binds. */
  readonly actor: 'server' | 'client' | 'both' | 'host' | 'intermediary';
  readonly rule: string;
  /** Pages of the specification and their sections, the most relevant one first. */
  readonly source: string;
}

/** The text of a rule, and its place in the specification. */
interface Citation {
  readonly id: string;
  readonly level: string;
  readonly says: string;
  /** Absent if the source has no page with a stable address. */
  readonly url?: string;
}

/** Citations for these ids, in the same order. Unknown ids are left out. */
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

/** The source pages of a rule, the most relevant one first. */
export function pagesOf({ source }: Rule): string[] {
  return source.split(';').map((part) => part.split('§')[0]!.trim());
}

/** The URL of a source page. */
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
 * Whether a check cites no rule of the specification. Then it is an opinion of the referee, with a reason. It counts as a
 * SHOULD, which only the grade A+ needs, and reports mark it.
 */
export function isOpinion({ rules }: { readonly rules: readonly string[] }): boolean {
  return rules.length === 0;
}

/** The level as reports show it. */
export function levelInWords(about: { readonly level: string; readonly rules: readonly string[] }): string {
  return isOpinion(about) ? `${about.level} (opinion)` : about.level;
}
