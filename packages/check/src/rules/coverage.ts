/** Which rule is held by which check, and why not by any. */
import { RULES, type Rule } from './index.js';
import { type Beyond, OUT_OF_SIGHT } from './unobservable.js';

/** What is needed of a check, be it of servers or of clients. */
export interface Citing {
  readonly id: string;
  readonly rules: readonly string[];
}

/**
 * `covered` by the checks of a server; otherwise whose matter it is: a client's (which `check-client` may cover), a
 * host's, an intermediary's, nobody's since it is `optional`. `open`: it could be watched, and is not.
 */
export type RuleStanding = 'covered' | 'open' | 'optional' | 'host' | 'intermediary' | Beyond;

export interface Row {
  readonly rule: Rule;
  readonly standing: RuleStanding;
  readonly checks: readonly string[];
  /** Of `check-client`. */
  readonly clientChecks: readonly string[];
  readonly why?: string;
}

export function coverage(checks: readonly Citing[], ofClients: readonly Citing[] = []): Row[] {
  const byRule = index(checks);
  const byClientRule = index(ofClients);
  return [...RULES.values()].map((rule) => {
    const found = byRule.get(rule.id) ?? [];
    return { rule, checks: found, clientChecks: byClientRule.get(rule.id) ?? [], ...standingOf(rule, found) };
  });
}

/** The pages that a rule is from, the best one first. */
export function pagesOf({ source }: Rule): string[] {
  return source.split(';').map((part) => part.split('§')[0]!.trim());
}

function standingOf(
  { id, actor, level }: Rule,
  checks: readonly string[],
): { standing: RuleStanding; why?: string } {
  // A check of servers that cites such a rule looks at the other side of it, and holds nobody to it.
  if (actor === 'host' || actor === 'intermediary') return { standing: actor };
  // The scripted servers of `check-client` have no authorization server behind them.
  if (actor === 'client') return { standing: id.startsWith('AUTH-') ? 'authorization server' : 'client' };
  if (checks.length > 0) return { standing: 'covered' };
  if (level === 'MAY') return { standing: 'optional' };
  const beyond = OUT_OF_SIGHT.get(id);
  return beyond === undefined ? { standing: 'open' } : { standing: beyond.kind, why: beyond.why };
}

function index(checks: readonly Citing[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { id, rules } of checks)
    for (const rule of rules) found.set(rule, [...(found.get(rule) ?? []), id]);
  return found;
}
