import { existsSync } from 'node:fs';
import { listGateways } from '@isthmus/gateway/internal/control/index.js';
import { readServers } from '@isthmus/sdk/internal/config/index.js';
import { configFiles } from '../attach/find-server.js';

/** The servers that may be meant next: those of files, and those of gateways that are running. */
export async function serverNames(words: readonly string[]): Promise<readonly string[]> {
  const [command = '', ...typed] = words;
  if (!ONE_NAME.has(command)) return [];
  const given = configured(typed);
  const isAboutFiles = given.length > 0 || command === 'attach';
  // A name and whatever follows it: there is nothing more to name.
  if (typed.some((word, at) => !word.startsWith('-') && !isValue(typed, at))) return [];
  const lists = await Promise.all([
    isAboutFiles || GATEWAY.has(command) ? ofFiles(given) : [],
    GATEWAY.has(command) ? ofGateways() : [],
  ]);
  return [...new Set(lists.flat())].filter((name) => SAFE.test(name)).sort();
}

const GATEWAY: ReadonlySet<string> = new Set(['status', 'logs', 'restart', 'stop', 'start', 'doctor']);
const ONE_NAME: ReadonlySet<string> = new Set([...GATEWAY, 'attach', 'list', 'call', 'read', 'probe']);

/** What a shell may see without quotes: a name comes from a file that anybody may have written. */
const SAFE = /^[\w@%+=,./-]+$/;

/** The files of `--config`, as far as they have been typed. */
function configured(words: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    const [, inline] = /^--config=(.+)$/s.exec(word) ?? [];
    if (inline !== undefined) return [inline];
    return /^(-c|--config)$/.test(words[at - 1] ?? '') ? [word] : [];
  });
}

function isValue(words: readonly string[], at: number): boolean {
  return /^(-[cnsmtuH]|--(config|input|socket|pid|lines|mode|timeout|header|url|env|cwd))$/.test(
    words[at - 1] ?? '',
  );
}

async function ofFiles(given: readonly string[]): Promise<readonly string[]> {
  const files = given.length > 0 ? given : known();
  const { servers } = await readServers(files.filter((file) => existsSync(file)));
  return Object.keys(servers);
}

function known(): readonly string[] {
  try {
    return configFiles(undefined);
  } catch {
    return [];
  }
}

async function ofGateways(): Promise<readonly string[]> {
  const found = await listGateways();
  return found.flatMap(({ status }) => Object.keys(status?.servers ?? {}));
}
