import {
  KINDS,
  NOTIFICATIONS,
  REQUESTS,
  RESULTS,
  ROUNDS,
  type Table,
  VARIANTS,
} from './members-by-revision.js';
import type { Json, Revision } from './revision.js';

/**
 * What a frame of a server has that our table of members does not know of the revision, or lacks that it
 * must have there; one line per problem. `asked` is the method of the request that the frame answers.
 */
export function memberProblems(frame: Json, asked: string | undefined, revision: Revision): string[] {
  if (frame['error'] !== undefined) return kindProblems('ErrorResponse', frame, '', revision);
  if (frame['result'] !== undefined) {
    return [
      ...kindProblems('Response', frame, '', revision),
      ...resultProblems(frame['result'], asked, revision),
    ];
  }
  const isRequest = frame['id'] !== undefined;
  const method = String(frame['method']);
  const span = look(isRequest ? REQUESTS : NOTIFICATIONS, method, revision);
  return [
    ...kindProblems(isRequest ? 'Request' : 'Notification', frame, '', revision),
    ...(span.known ? valueProblems(span.value, frame['params'] ?? {}, 'params', revision) : [span.why]),
  ];
}

function resultProblems(result: unknown, asked: string | undefined, revision: Revision): string[] {
  if (asked === undefined) return ['answers no request'];
  const span = look(RESULTS, asked, revision);
  if (!span.known) return [`answers what was not to be asked: ${span.why}`];
  if (!isObject(result) || result['resultType'] !== 'input_required' || revision < '2026-07-28') {
    return valueProblems(span.value, result, 'result', revision);
  }
  if (!look(ROUNDS, asked, revision).known)
    return [`${asked} cannot be answered with input_required (MRTR-001)`];
  const empty = result['inputRequests'] === undefined && result['requestState'] === undefined;
  return [
    ...kindProblems('InputRequiredResult', result, 'result', revision),
    ...(empty ? ['result has neither inputRequests nor requestState'] : []),
  ];
}

/** `type` as a table writes it after the colon. */
function valueProblems(type: string | undefined, value: unknown, path: string, revision: Revision): string[] {
  if (type === undefined) return [];
  if (type.includes('|')) {
    const one = type.split('|').find((either) => either.endsWith('[]') === Array.isArray(value));
    return one ? valueProblems(one, value, path, revision) : [`${path} is no ${type}`];
  }
  const many = type.endsWith('[]');
  if (many || type.endsWith('{}')) {
    if (many ? !Array.isArray(value) : !isObject(value)) return [`${path} is no ${type}`];
    const entries = Object.entries(value as Json);
    return entries.flatMap(([key, item]) =>
      valueProblems(type.slice(0, -2), item, many ? `${path}[${key}]` : `${path}.${key}`, revision),
    );
  }
  const plain = PLAIN[type];
  if (plain) return plain(value) ? [] : [`${path} is no ${type}: ${JSON.stringify(value)}`];
  if (!isObject(value)) return [`${path} is no ${type}`];
  const variant = VARIANTS[type];
  if (!variant) return kindProblems(type, value, path, revision);
  const name = String(value[variant.by] ?? variant.otherwise);
  const span = look(variant.kinds, name, revision);
  return span.known ? valueProblems(span.value, value, path, revision) : [`${path}: ${type} ${span.why}`];
}

function kindProblems(kind: string, value: Json, path: string, revision: Revision): string[] {
  const table = KINDS[kind];
  if (table === undefined) throw new Error(`The table of members has no ${kind}`);
  const prefix = path === '' ? '' : `${path}.`;
  const found: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    // Metadata is open, but for the names that the protocol keeps for itself.
    if (kind === 'Meta' && !name.startsWith('io.modelcontextprotocol/')) continue;
    const span = look(table, name, revision);
    if (!span.known) found.push(`${path || 'the frame'}: ${kind} ${span.why}`);
    else found.push(...valueProblems(span.value, member, `${prefix}${name}`, revision));
  }
  for (const [name, spans] of read(table)) {
    const needed = spans.some((span) => span.required && covers(span, revision));
    if (needed && value[name] === undefined) found.push(`${prefix}${name} is missing`);
  }
  return found;
}

/** The values that are no objects of a known kind. */
export const PLAIN: Readonly<Record<string, (value: unknown) => boolean>> = {
  uri: (value) => typeof value === 'string' && URL.canParse(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  string: (value) => typeof value === 'string',
  strings: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  complete: (value) => value === 'complete',
  input_required: (value) => value === 'input_required',
  duration: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  scope: (value) => value === 'public' || value === 'private',
};

interface Span {
  readonly since: Revision;
  /** The revision that took it away. */
  readonly gone: Revision | undefined;
  readonly required: boolean;
  readonly value: string | undefined;
}

type Found = { known: true; value: string | undefined } | { known: false; why: string };

/** What a table says of a name at a revision. */
function look(table: Table, name: string, revision: Revision): Found {
  const spans = read(table).get(name) ?? [];
  const span = spans.find((one) => covers(one, revision));
  if (span) return { known: true, value: span.value };
  if (spans.length === 0) return { known: false, why: `${name} is unknown` };
  const young = spans.every(({ since }) => since > revision);
  const when = young ? `came with ${spans[0]!.since}` : `went with ${spans.at(-1)!.gone}`;
  return { known: false, why: `${name} ${when}, not in ${revision}` };
}

function covers({ since, gone }: Span, revision: Revision): boolean {
  return since <= revision && (gone === undefined || revision < gone);
}

const FIRST: Revision = '2024-11-05';
const WORD = /^(?<name>[^!:<]+)(?<required>!?)(?::(?<value>[^<]+))?(?:<(?<gone>[\d-]{10}))?$/;
const tables = new Map<Table, Map<string, Span[]>>();

function read(table: Table): Map<string, Span[]> {
  let names = tables.get(table);
  if (names) return names;
  names = new Map();
  const groups = typeof table === 'string' ? { [FIRST]: table } : table;
  for (const [since, words] of Object.entries(groups)) {
    for (const word of words.trim().split(/\s+/)) {
      const parts = WORD.exec(word)?.groups;
      if (!parts) throw new Error(`The table of members has the odd word ${word}`);
      const spans = names.get(parts['name']!) ?? [];
      spans.push({
        since: since as Revision,
        gone: parts['gone'] as Revision | undefined,
        required: parts['required'] === '!',
        value: parts['value'],
      });
      names.set(parts['name']!, spans);
    }
  }
  tables.set(table, names);
  return names;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
