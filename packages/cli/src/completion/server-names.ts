import { existsSync } from 'node:fs';
import { listGateways } from '@isthmus/gateway/internal/control/index.js';
import { readServers } from '@isthmus/sdk/internal/config/index.js';
import { configFiles } from '../attach/find-server.js';

/** The names of servers that may come next: those of files, and those of running gateways. */
export async function serverNames(args: readonly string[]): Promise<readonly string[]> {
  const [command = '', ...typed] = args;
  if (!ONE_NAME.has(command)) return [];
  const files = configOptions(typed);
  const wantsFiles = files.length > 0 || command === 'attach' || command === 'install';
  // A command takes one name: after it there is nothing to offer.
  if (typed.some((arg, at) => !arg.startsWith('-') && !isValue(typed, at))) return [];
  const lists = await Promise.all([
    wantsFiles || GATEWAY.has(command) ? namesOfFiles(files) : [],
    GATEWAY.has(command) ? namesOfGateways() : [],
  ]);
  return [...new Set(lists.flat())].filter((name) => SAFE.test(name)).sort();
}

const GATEWAY: ReadonlySet<string> = new Set(['status', 'logs', 'restart', 'stop', 'start', 'doctor']);
const CLIENTS = ['list', 'call', 'read', 'prompt', 'complete', 'listen', 'probe'];
const ONE_NAME: ReadonlySet<string> = new Set([...GATEWAY, ...CLIENTS, 'attach', 'install']);

/** Names that a shell can take without quotes. The file with the names may come from somebody else. */
const SAFE = /^[\w@%+=,./-]+$/;

/** The files of `--config` that have been typed so far. */
function configOptions(args: readonly string[]): string[] {
  return args.flatMap((arg, at) => {
    const [, inline] = /^--config=(.+)$/s.exec(arg) ?? [];
    if (inline !== undefined) return [inline];
    return /^(-c|--config)$/.test(args[at - 1] ?? '') ? [arg] : [];
  });
}

function isValue(args: readonly string[], at: number): boolean {
  return /^(-[cnsetuH]|--(config|input|socket|pid|lines|era|timeout|header|url|env|cwd))$/.test(
    args[at - 1] ?? '',
  );
}

async function namesOfFiles(given: readonly string[]): Promise<readonly string[]> {
  const files = given.length > 0 ? given : defaultFiles();
  const { servers } = await readServers(files.filter((file) => existsSync(file)));
  return Object.keys(servers);
}

function defaultFiles(): readonly string[] {
  try {
    return configFiles(undefined);
  } catch {
    return [];
  }
}

async function namesOfGateways(): Promise<readonly string[]> {
  const found = await listGateways();
  return found.flatMap(({ status }) => Object.keys(status?.servers ?? {}));
}
