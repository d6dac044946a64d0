/** Which checks cover which rule, why a rule has no check, and docs/check-rules.md. */
import { addressOf, pagesOf, RULES, type Rule } from './index.js';
import { UNOBSERVABLE_RULES, type UnobservableKind } from './unobservable.js';

/** A check of servers or of clients. */
interface Citing {
  readonly id: string;
  readonly rules: readonly string[];
}

/**
 * `covered`: a check of servers covers it. `client`, `host` and `intermediary`: it binds that party (`check-client` may
 * cover rules for clients). `optional`: it is a MAY. `open`: it could be checked, but no check does.
 */
type RuleStanding = 'covered' | 'open' | 'optional' | 'host' | 'intermediary' | UnobservableKind;

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
  // A check of servers that cites such a rule judges only the part of the server.
  if (actor === 'host' || actor === 'intermediary') return { standing: actor };
  if (actor === 'client') return { standing: 'client' };
  if (checks.length > 0) return { standing: 'covered' };
  if (level === 'MAY') return { standing: 'optional' };
  const beyond = UNOBSERVABLE_RULES.get(id);
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

On this page you can look up a rule of the specification, in our words, and which checks of \`isthmus check\` and
\`isthmus check-client\` cover it. A rule without a check has a reason: it binds another party, it is optional, or it
cannot be observed by a client.`;

/** Distinguishes rules for clients with and without a check of clients. */
type Word = RuleStanding | 'client held';

const WORDS: Readonly<Record<Word, string>> = {
  covered: 'covered by a check of servers',
  'client held': 'for clients, covered by a check of clients',
  client: 'for clients, without a check',
  host: 'for hosts',
  intermediary: 'for intermediaries',
  'authorization server': 'needs an authorization server',
  unobservable: 'cannot be observed by a client',
  optional: 'optional',
  open: 'open',
};

const HEAD = ['id', 'level', 'for', 'rule', 'covered by'];

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

/** Links pages of the specification. */
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
