import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { type ServerSpec, withoutSource } from '@isthmus/sdk/internal/config/server-spec.js';
import { usageError } from '../cli-error.js';
import { commandTarget } from '../target.js';
import type { AttachCommandOptions } from './attach-options.js';

export interface AttachTarget {
  readonly server: ServerSpec;
  /** For stderr. */
  readonly warnings: readonly string[];
}

/** Finds the server: a name in a file, a URL, or the command after `--`. */
export async function findServer(
  words: readonly string[],
  behind: readonly string[] | undefined,
  options: Pick<AttachCommandOptions, 'config' | 'input' | 'url' | 'cwd'>,
): Promise<AttachTarget> {
  const [word, ...more] = words;
  // mcp-remote takes the URL as an argument without --url.
  const isAddress = word !== undefined && /^https?:\/\//i.test(word) && options.url === undefined;
  const url = isAddress ? word : options.url;
  const name = isAddress ? undefined : word;
  const targets = [url, name, behind].filter((each) => each !== undefined);
  if (targets.length > 1 || more.length > 0) {
    const what = 'attach takes one server: NAME, --url URL, or -- COMMAND ARGS…';
    throw usageError(what, behind ? undefined : 'Write a command after --: isthmus attach -- COMMAND ARGS…');
  }
  if (url !== undefined) return { server: serverAt(url), warnings: [] };
  if (behind) return { server: serverOfCommand(behind, options.cwd), warnings: [] };
  return findNamed(configFiles(options.config), name, options.input);
}

/** Loads the reader of files only when it is needed, so that a shim starts fast. */
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

/** Refuses what is not the URL of a server. */
export function checkUrl(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw usageError(`"${url}" is not an http:// or https:// URL`, 'For example https://example.com/mcp');
  }
}

function serverAt(url: string): ServerSpec {
  checkUrl(url);
  const { origin, pathname } = new URL(url);
  // Without its query, which may contain secrets.
  return { kind: 'url', name: `${origin}${pathname}`, url, transport: 'auto', headers: {} };
}

function serverOfCommand([command, ...args]: readonly string[], cwd = '.'): ServerSpec {
  if (!command) throw usageError('No command after --', 'isthmus attach -- node server.js');
  return { ...commandTarget(command, args), cwd: resolve(cwd) };
}

export interface ConfigFileSearch {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  readonly home?: string;
  readonly exists?: (file: string) => boolean;
}

/**
 * The files of `--config`, or else of `ISTHMUS_CONFIG`, or else the file of the user. The files of applications are not
 * read by default, since `isthmus attach NAME` may itself be the definition of NAME in one of them.
 */
export function configFiles(
  given: readonly string[] | undefined,
  search: ConfigFileSearch = {},
): readonly string[] {
  const found = findConfigFiles(given, search);
  if (found.length > 0) return found;
  throw usageError(
    'No configuration file found',
    `Give --config FILE, or define the servers in ${ownConfigFile(search)}; -- COMMAND ARGS… and --url URL need no file`,
  );
}

/** The same. Empty: there are none. */
export function findConfigFiles(
  given: readonly string[] | undefined,
  search: ConfigFileSearch = {},
): readonly string[] {
  if (given) return given;
  const { env = process.env, exists = existsSync } = search;
  const listed = env['ISTHMUS_CONFIG']?.split(delimiter).filter(Boolean) ?? [];
  if (listed.length > 0) return listed;
  const own = ownConfigFile(search);
  return exists(own) ? [own] : [];
}

/** The file of this user that commands read without --config. */
export function ownConfigFile({
  env = process.env,
  platform = process.platform,
  home = homedir(),
}: ConfigFileSearch = {}): string {
  const folder =
    platform === 'win32'
      ? join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'isthmus')
      : join(home, '.config', 'isthmus');
  return join(folder, 'mcp.json');
}
