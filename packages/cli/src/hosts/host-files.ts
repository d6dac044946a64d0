import { knownFiles, type Whereabouts } from '@isthmus/sdk/internal/config/index.js';
import { suggest } from '../arguments/suggest.js';
import { usageError } from '../cli-error.js';
import { hostName } from '../config/import-servers.js';

/** A server as hosts start it. */
export interface HostCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The file of a host, and how a server is written there. */
export interface HostFile {
  readonly host: string;
  readonly application: string;
  readonly path: string;
  /** The keys of the table of servers. */
  readonly table: readonly string[];
  entryOf(command: HostCommand): Readonly<Record<string, unknown>>;
}

/** Finds the file of a host. `scope`: that of the user, or that of the project in the current folder. */
export function hostFile(typed: string, scope: 'user' | 'project', where: Whereabouts = {}): HostFile {
  const files = knownFiles(where).filter(({ application }) => !(hostName(application) in OTHER_FORMATS));
  const names = [...new Set(files.map(({ application }) => hostName(application)))];
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
  const host = names.find((each) => bare(each) === bare(typed));
  const other = Object.keys(OTHER_FORMATS).find((each) => bare(each) === bare(typed));
  if (other !== undefined) {
    throw usageError(
      `isthmus does not write the ${OTHER_FORMATS[other]} file of ${other}`,
      'isthmus config list shows the file; isthmus install … --print prints what the entry has to start',
    );
  }
  if (host === undefined) {
    const meant = suggest(typed, names);
    const known = `Known hosts: ${names.join(', ')}`;
    throw usageError(
      `"${typed}" is not a known host`,
      meant === undefined ? known : `Did you mean ${meant}? ${known}`,
    );
  }
  const file = files.find((each) => hostName(each.application) === host && each.scope === scope);
  if (!file) {
    throw usageError(
      `${host} has no file of ${scope === 'user' ? 'the user' : 'a project'}`,
      scope === 'user' ? 'Write --project' : 'Leave --project out',
    );
  }
  return { host, application: file.application, path: file.path, ...(FORMATS[host] ?? COMMON) };
}

/** Hosts whose files are not JSON. */
const OTHER_FORMATS: Readonly<Record<string, string>> = { codex: 'TOML', continue: 'YAML', goose: 'YAML' };

type Format = Pick<HostFile, 'table' | 'entryOf'>;

function withEnv({ env }: HostCommand): { readonly env?: HostCommand['env'] } {
  return Object.keys(env).length > 0 ? { env } : {};
}

/** Most hosts. */
const COMMON: Format = {
  table: ['mcpServers'],
  entryOf: (server) => ({ command: server.command, args: server.args, ...withEnv(server) }),
};

const FORMATS: Readonly<Record<string, Format>> = {
  'claude-code': { ...COMMON, entryOf: (server) => ({ type: 'stdio', ...COMMON.entryOf(server) }) },
  vscode: { table: ['servers'], entryOf: (server) => ({ type: 'stdio', ...COMMON.entryOf(server) }) },
  zed: { table: ['context_servers'], entryOf: (server) => ({ source: 'custom', ...COMMON.entryOf(server) }) },
  amp: { table: ['amp.mcpServers'], entryOf: COMMON.entryOf },
  opencode: {
    table: ['mcp'],
    entryOf: (server) => ({
      type: 'local',
      command: [server.command, ...server.args],
      ...(Object.keys(server.env).length > 0 && { environment: server.env }),
    }),
  },
};
