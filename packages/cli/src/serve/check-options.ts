import { usageError } from '../cli-error.js';
import { namesOfFlags } from '../server-flags.js';
import type { ServeCommandOptions } from './serve-options.js';

/** What is served: the servers of files, named servers of the command line, one server, or the demo. */
export type ServedKind = 'files' | 'named' | 'command' | 'address' | 'demo';

type Name = keyof ServeCommandOptions;

/** Refuses an option that would have no effect, because the user expects one. */
export function refuseIdle(
  isTyped: (name: Name) => boolean,
  serving: ServedKind,
  addresses: readonly string[],
): void {
  const idle = IDLE[serving].find(isTyped);
  if (idle !== undefined) throw usageError(`${flagOf(idle)} ${WHY[serving]}`, HINTS[serving]);
  if (addresses.some((address) => address.startsWith('http://'))) return;
  const door = ABOUT_HTTP.find(isTyped);
  if (door === undefined) return;
  throw usageError(
    `${flagOf(door)} needs an HTTP address, and there is only ${addresses.join(', ')}`,
    'Leave it out, or add --port PORT',
  );
}

/** Servers of files use stored logins. */
const ABOUT_LOGIN: readonly Name[] = ['auth', 'clientId', 'clientSecretFile', 'issuer', 'scope'];
const ABOUT_ONE: readonly Name[] = [
  ...ABOUT_LOGIN,
  ...(['header', 'transport', 'cwd', 'env', 'name'] as const),
  ...(namesOfFlags('serve') as readonly Name[]),
];
const ABOUT_MANY: readonly Name[] = ['separator', 'watch', 'input'];

/** The options without effect. Others are refused when the server is opened. */
const IDLE: Readonly<Record<ServedKind, readonly Name[]>> = {
  files: ABOUT_ONE,
  named: ['header', 'transport', 'name', ...ABOUT_LOGIN],
  command: ABOUT_MANY,
  address: [...(namesOfFlags('serve', { onlyCommands: true }) as readonly Name[]), ...ABOUT_MANY],
  demo: [
    ...ABOUT_ONE,
    ...ABOUT_MANY,
    'console',
    'consoleKey',
    'consoleScope',
    'consoleBehindTls',
    'record',
    'maxConcurrent',
    'maxParked',
    'rateLimit',
    'logLevel',
    'logFormat',
    'debug',
    'auditLog',
    'auditMaxSize',
    'auditKeep',
    'auditArguments',
  ],
};

const WHY: Readonly<Record<ServedKind, string>> = {
  files: 'is for a server of the command line, and these are in files',
  named: 'is for one server, and these are many',
  command: 'is for many servers, and this is one',
  address: 'needs a command, but this server is an address',
  demo: 'is for a server, and none is given',
};

const HINTS: Readonly<Record<ServedKind, string>> = {
  files: 'Write it into the file, for each server: isthmus docs config has the names',
  named: 'Leave it out, or put the servers into a file for --config',
  command: 'Leave it out; --config FILE serves many',
  address: 'Leave it out',
  demo: 'Give one: isthmus serve … -- COMMAND ARGS…, --upstream URL or --config FILE',
};

const ABOUT_HTTP: readonly Name[] = [
  ...(['ssePath', 'messagePath', 'sse', 'healthPath'] as const),
  ...([
    'apiKey',
    'bearerFile',
    'jwtJwks',
    'operator',
    'authServer',
    'introspectClient',
    'introspectSecretFile',
    'introspectUrl',
    'connectClient',
    'connectSecretFile',
    'loginFolder',
    'loginKey',
    'resource',
    'trustProxy',
    'allowOrigin',
    'allowHeader',
  ] as const),
  ...([
    'allowHost',
    'maxBody',
    'maxSessions',
    'maxStreams',
    'sessionTimeout',
    'stateless',
    'resumableEvents',
    'cluster',
    'workers',
  ] as const),
];

function flagOf(name: Name): string {
  const kebab = name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
  return name === 'watch' || name === 'sse' ? `--no-${name}` : `--${kebab}`;
}
