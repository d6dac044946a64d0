/** Which rule is held by which check, and why not by any. */
import { addressOf, pagesOf, RULES, type Rule } from './index.js';
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

export function rulesPage(rows: readonly Row[]): string {
  const pages = new Map<string, Row[]>();
  for (const row of rows) {
    const page = pagesOf(row.rule)[0]!;
    pages.set(page, [...(pages.get(page) ?? []), row]);
  }
  return [
    INTRODUCTION,
    table(
      ['', 'MUST', 'SHOULD', 'MAY'],
      (Object.keys(WORDS) as Word[]).map((word) => [WORDS[word], ...counts(rows, word)]),
    ),
    'The specification, page by page:',
    ...[...pages].map(([page, found]) => `## ${title(page)}\n\n${table(HEAD, found.map(cells))}`),
  ].join('\n\n');
}

const INTRODUCTION = `# Rules and checks

<!-- Written by \`node scripts/check-rules.js\`. Change packages/check/rules.json or the checks, not this page. -->

What the specification demands, rule by rule, in our words, and which checks of \`isthmus check\` and
\`isthmus check-client\` hold a server or a client to it. A rule without a check says why: it is for somebody else, it
is optional, or it cannot be seen from outside.`;

/** A rule for clients that none of the checks of clients holds is told apart. */
type Word = RuleStanding | 'client held';

const WORDS: Readonly<Record<Word, string>> = {
  covered: 'held by a check of servers',
  'client held': 'for clients, held by a check of clients',
  client: 'for clients, without a check',
  host: 'for hosts',
  intermediary: 'for intermediaries',
  'authorization server': 'needs an authorization server',
  unobservable: 'cannot be seen from outside',
  optional: 'optional',
  open: 'open',
};

const HEAD = ['rule', 'level', 'for', 'what it says', 'held by'];

function cells(row: Row): string[] {
  const { rule, checks, clientChecks, why } = row;
  const word = wordOf(row);
  const held = [...checks, ...clientChecks.map((id) => `check-client ${id}`)].map((id) => `\`${id}\``);
  const reason = word === 'covered' || word === 'client held' ? [] : [why ?? WORDS[word]];
  return [
    rule.id,
    rule.level,
    `${rule.actor === 'both' ? 'both sides' : rule.actor}${rule.era === 'both' ? '' : `, ${rule.era}`}`,
    short(rule.rule),
    [held.join(', '), ...reason].filter(Boolean).join('; '),
  ];
}

function wordOf({ standing, clientChecks }: Row): Word {
  return standing === 'client' && clientChecks.length > 0 ? 'client held' : standing;
}

function counts(rows: readonly Row[], word: Word): string[] {
  const levels = rows.filter((row) => wordOf(row) === word).map(({ rule }) => rule.level);
  return ['MUST', 'SHOULD', 'MAY'].map((level) =>
    String(levels.filter((one) => one.startsWith(level)).length),
  );
}

/** Pages of the specification have an address. */
function title(page: string): string {
  const [, revision, path] = /^(\d{4}-\d\d-\d\d)\/(.+?)(?:\/index)?\.mdx$/.exec(page) ?? [];
  if (revision === undefined) return page.replace(/^docs\/docs\//, '');
  return `[${path}](${addressOf(page)}), ${revision}`;
}

function short(text: string): string {
  const plain = text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  if (plain.length <= 160) return plain;
  const cut = plain.slice(0, plain.lastIndexOf(' ', 158));
  // A cut inside of a code span would leave it open.
  return cut.split('`').length % 2 === 1 ? `${cut} …` : `${cut.slice(0, cut.lastIndexOf('`')).trimEnd()} …`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
