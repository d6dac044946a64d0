import { resolve } from 'node:path';
import { type ServerSpec, withoutSource } from '@isthmus/sdk/internal/config/server-spec.js';
import { usageError } from '../cli-error.js';
import { commandTarget } from '../target.js';
import type { AttachCommandOptions } from './attach-options.js';
import { configFiles } from './config-files.js';

export interface AttachTarget {
  readonly server: ServerSpec;
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
  if (url !== undefined) return { server: serverAt(url), warnings: [] };
  if (behind) return { server: serverOfCommand(behind, options.cwd), warnings: [] };
  return findNamed(configFiles(options.config), name, options.input);
}

/** Reading files is loaded only by those who do. */
async function findNamed(
  files: readonly string[],
  name: string | undefined,
  inputs: Readonly<Record<string, string>> | undefined,
): Promise<AttachTarget> {
  const { findConfigured } = await import('../config-target.js');
  const { target, warnings } = await findConfigured('attach', files, name, inputs);
  // The user asked for it by its name, so it is used although the file has it disabled.
  const { files: _files, disabled: _disabled, ...entry } = target;
  return { server: withoutSource(entry), warnings };
}

function serverAt(url: string): ServerSpec {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw usageError(`"${url}" is no http:// or https:// URL`);
  }
  const { origin, pathname } = new URL(url);
  // Without its query, which may hold secrets.
  return { kind: 'url', name: `${origin}${pathname}`, url, transport: 'auto', headers: {} };
}

function serverOfCommand([command, ...args]: readonly string[], cwd = '.'): ServerSpec {
  if (!command) throw usageError('Behind -- there is no command', 'isthmus attach -- node server.js');
  return { ...commandTarget(command, args), cwd: resolve(cwd) };
}
