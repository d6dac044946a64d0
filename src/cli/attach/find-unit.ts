import { resolve } from 'node:path';
import type { UnitDefinition } from '../../gateway/unit-definition.js';
import { usageError } from '../cli-error.js';
import { nameOfServer } from '../serve/name-of-server.js';
import type { AttachOptions } from './attach-options.js';
import { configFiles } from './config-files.js';

export interface FoundUnit {
  readonly unit: UnitDefinition;
  /** For stderr. */
  readonly warnings: readonly string[];
}

/** The server that is meant: a name in a file, a URL, or the command behind `--`. */
export async function findUnit(
  words: readonly string[],
  behind: readonly string[] | undefined,
  options: Pick<AttachOptions, 'config' | 'input' | 'url' | 'cwd'>,
): Promise<FoundUnit> {
  const [word, ...more] = words;
  // Whoever comes from mcp-remote writes the URL as a word.
  const isAddress = word !== undefined && /^https?:\/\//i.test(word) && options.url === undefined;
  const url = isAddress ? word : options.url;
  const name = isAddress ? undefined : word;
  const targets = [url, name, behind].filter((each) => each !== undefined);
  if (targets.length > 1 || more.length > 0) {
    const what = 'attach takes one server: NAME, --url URL, or -- COMMAND ARGS…';
    throw usageError(what, behind ? undefined : 'A command goes behind --: isthmus attach -- COMMAND ARGS…');
  }
  if (url !== undefined) return { unit: unitAt(url), warnings: [] };
  if (behind) return { unit: unitOfCommand(behind, options.cwd), warnings: [] };
  return findNamed(configFiles(options.config), name, options.input);
}

/** Reading files is loaded only by those who do. */
async function findNamed(
  files: readonly string[],
  name: string | undefined,
  inputs: Readonly<Record<string, string>> | undefined,
): Promise<FoundUnit> {
  const { findConfigured } = await import('../config-target.js');
  const { splitEntry } = await import('../../config/index.js');
  const { unitOf } = await import('../../gateway/unit-definition.js');
  const { entry, warnings } = await findConfigured('attach', files, name, inputs);
  // It is asked for by its name: whoever does so wants it, and will use it in a moment.
  const wanted = {
    ...entry,
    disabled: false,
    ...(entry.kind === 'command' && { start: entry.start ?? 'lazy' }),
  };
  return { unit: unitOf(splitEntry(wanted), { hasPrincipals: false }), warnings };
}

function unitAt(url: string): UnitDefinition {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw usageError(`"${url}" is no http:// or https:// URL`);
  }
  const { origin, pathname } = new URL(url);
  return {
    // Without its query, which may hold secrets.
    name: `${origin}${pathname}`,
    source: { kind: 'url', url, connect: { headers: {}, sse: 'auto' }, upstream: {} },
    bridge: { stateless: false },
    unit: WANTED,
  };
}

function unitOfCommand([command, ...args]: readonly string[], cwd = '.'): UnitDefinition {
  if (!command) throw usageError('Behind -- there is no command', 'isthmus attach -- node server.js');
  return {
    name: nameOfServer(command, args),
    source: { kind: 'command', definition: { command, args, env: {}, cwd: resolve(cwd) } },
    bridge: { stateless: false },
    unit: WANTED,
  };
}

const WANTED = { disabled: false, needed: true, tools: {}, limits: {} };
