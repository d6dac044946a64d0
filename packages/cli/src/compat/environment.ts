import { delimiter } from 'node:path';
import { usageError } from '../cli-error.js';
import type { ServeCommandOptions } from '../serve/serve-options.js';

type Name = keyof ServeCommandOptions;

/** An option of the command line wins over the environment, also where two options contradict each other. */
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
    throw usageError('ISTHMUS_UPSTREAM and ISTHMUS_CONFIG are both set', 'Unset one of them');
  }
  // The servers that we start must not see the keys of our clients.
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

/** Separators of variables that hold several values. A key may contain any character except white space. */
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
