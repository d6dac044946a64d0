import { resolve } from 'node:path';
import type { GatewayServerDefinition } from '@isthmus/gateway/internal/server-definition.js';
import { usageError } from '../cli-error.js';
import { nameOfServer } from '../serve/name-of-server.js';
import type { AttachCommandOptions } from './attach-options.js';
import { configFiles } from './config-files.js';

export interface AttachTarget {
  readonly unit: GatewayServerDefinition;
  /** For stderr. */
  readonly warnings: readonly string[];
}

/** The server that is meant: a name in a file, a URL, or the command behind `--`. */
export async function findServer(
  words: readonly string[],
  behind: readonly string[] | undefined,
  options: Pick<AttachCommandOptions, 'config' | 'input' | 'url' | 'cwd'>,
): Promise<AttachTarget> {
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
): Promise<AttachTarget> {
  const { findConfigured } = await import('../config-target.js');
  const { splitEntry } = await import('@isthmus/sdk/internal/config/index.js');
  const { gatewayServerOf } = await import('@isthmus/gateway/internal/server-definition.js');
  const { entry, warnings } = await findConfigured('attach', files, name, inputs);
  // It is asked for by its name: whoever does so wants it, and will use it in a moment.
  const wanted = {
    ...entry,
    disabled: false,
    ...(entry.kind === 'command' && { start: entry.start ?? 'lazy' }),
  };
  return { unit: gatewayServerOf(splitEntry(wanted), { hasPrincipals: false }), warnings };
}

function unitAt(url: string): GatewayServerDefinition {
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

function unitOfCommand([command, ...args]: readonly string[], cwd = '.'): GatewayServerDefinition {
  if (!command) throw usageError('Behind -- there is no command', 'isthmus attach -- node server.js');
  return {
    name: nameOfServer(command, args),
    source: { kind: 'command', definition: { command, args, env: {}, cwd: resolve(cwd) } },
    bridge: { stateless: false },
    unit: WANTED,
  };
}

const WANTED = { disabled: false, needed: true, tools: {}, limits: {} };
