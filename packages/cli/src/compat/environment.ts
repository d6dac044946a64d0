import { delimiter } from 'node:path';
import { usageError } from '../cli-error.js';
import type { ServeCommandOptions } from '../serve/serve-options.js';

type Name = keyof ServeCommandOptions;

/** What was typed wins over what the environment says, also where another option says the same. */
export function settleEnvironment(
  options: ServeCommandOptions,
  sourceOf: (name: Name) => string | undefined,
  isCommandTyped: boolean,
): ServeCommandOptions {
  const isTyped = (name: Name) => sourceOf(name) === 'cli';
  const isFromEnv = (name: Name) => sourceOf(name) === 'env';
  const dropped = new Set<Name>();
  const drop = (...names: readonly Name[]) => {
    for (const name of names) if (isFromEnv(name)) dropped.add(name);
  };
  if (isTyped('listen')) drop('port', 'host');
  if (isTyped('port') || isTyped('host')) drop('listen');
  const hasTarget = isCommandTyped || TARGETS.some(isTyped);
  if (hasTarget) drop('upstream', 'config');
  else if (isFromEnv('upstream') && isFromEnv('config')) {
    throw usageError('ISTHMUS_UPSTREAM and ISTHMUS_CONFIG both say what to serve', 'Unset one of them');
  }
  // Children get what they need, and not the keys of our door.
  delete process.env['ISTHMUS_API_KEY'];
  const settled = Object.entries(options).flatMap(([key, value]) => {
    const name = key as Name;
    if (dropped.has(name)) return [];
    const separator = LISTS[name];
    const isList = isFromEnv(name) && separator !== undefined;
    return [[name, isList ? split(String(value), separator) : value]];
  });
  return Object.fromEntries(settled) as ServeCommandOptions;
}

const TARGETS: readonly Name[] = ['upstream', 'config', 'import', 'namedServer'];

/** How a variable separates what is several options on the command line. A key may have anything in it but blanks. */
const LISTS: Readonly<Partial<Record<Name, string | RegExp>>> = {
  listen: /[\s,]+/,
  config: delimiter,
  apiKey: /\s+/,
  jwtAudience: /[\s,]+/,
  allowOrigin: /[\s,]+/,
  allowHost: /[\s,]+/,
};

function split(text: string, separator: string | RegExp): readonly string[] {
  return text.split(separator).filter((part) => part !== '');
}
