import { pagesOf } from './coverage.js';
import { RULES } from './index.js';

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
