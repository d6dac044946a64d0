import { IsthmusError } from './errors.js';
import { nearMiss } from './near-miss.js';

/** Names of the official SDK that mean the same here and are accepted. docs/moving.md has this table. */
export const OFFICIAL_SPELLINGS = [
  { theirs: 'inputSchema', ours: 'input', where: 'server.tool' },
  { theirs: 'outputSchema', ours: 'output', where: 'server.tool' },
  { theirs: 'argsSchema', ours: 'arguments', where: 'server.prompt' },
  { theirs: 'timeout', ours: 'timeoutMs', where: 'options of a call' },
] as const;

/** Every option of `T`. The compiler reports an option that is missing here. */
export type OptionNames<T> = Readonly<Record<keyof T & string, true>>;

/** A sentence for an option that does not exist, where more can be said than a similar name. */
export type OptionHint = (name: string, value: unknown) => string | undefined;

/**
 * Checks the options that a program passed: an object, with known names only. A misspelled option would otherwise be
 * ignored. Returns them with our names.
 */
export function checkedOptions<T extends object>(
  owner: string,
  given: T,
  known: OptionNames<T>,
  hint?: OptionHint,
): T {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidArgument(`${owner}: the options must be an object, got ${kindOf(given)}`);
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    const advice = hint?.(name, given[name as keyof T]) ?? suggestion(name, Object.keys(known));
    throw invalidArgument(`${owner} has no option "${name}"${advice}`);
  }
  return withOurNames(owner, given, known);
}

function withOurNames<T extends object>(owner: string, given: T, known: OptionNames<T>): T {
  let renamed: Record<string, unknown> | undefined;
  for (const { theirs, ours } of OFFICIAL_SPELLINGS) {
    if (!Object.hasOwn(known, theirs) || !Object.hasOwn(given, theirs)) continue;
    if (Object.hasOwn(given, ours)) {
      throw invalidArgument(`${owner}: "${theirs}" means the same as "${ours}"; write only "${ours}"`);
    }
    renamed = { ...(renamed ?? (given as Record<string, unknown>)) };
    renamed[ours] = renamed[theirs];
    delete renamed[theirs];
  }
  return (renamed as T | undefined) ?? given;
}

function suggestion(name: string, known: readonly string[]): string {
  const ours = known.filter((each) => !OFFICIAL_SPELLINGS.some(({ theirs }) => theirs === each));
  const meant =
    nearMiss(name, ours) ?? ours.find((each) => sharesAnEnd(name.toLowerCase(), each.toLowerCase()));
  return meant === undefined ? `; it has ${ours.join(', ')}` : `; did you mean "${meant}"?`;
}

/** `desc` for `description`, `mcpServers` for `servers`. */
function sharesAnEnd(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 4 && (long.startsWith(short) || long.endsWith(short));
}

export function invalidArgument(message: string): IsthmusError {
  return new IsthmusError('INVALID_OPTION', message, { sent: 'no' });
}

/** For errors. The value itself is not shown: it may be a secret. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Promise) return 'a promise; await it';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
