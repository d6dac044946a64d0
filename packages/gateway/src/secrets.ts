import type { GatewayServerSpec } from './server-definition.js';
import { isSecretName } from './telemetry/secret-patterns.js';

/**
 * What a definition holds that must not appear in logs, in the status or in errors: every value of `env` and `headers`
 * that is long enough to be a secret, unless its name says that it is none.
 */
export function secretsOf(spec: GatewayServerSpec): string[] {
  if (spec.kind === 'command') return secretVariables(spec.env);
  if (spec.kind !== 'url') return [];
  const { clientSecret } = spec.auth ?? {};
  const ofClient = typeof clientSecret === 'string' ? [clientSecret] : [];
  return [...ofClient, ...secretHeaders(spec.headers), ...secretsInUrl(spec.url)];
}

/**
 * The same, of all servers of a gateway. What is part of a server's name is in every address: the server `postgres`
 * with the variable `PGUSER=postgres` must keep its name.
 */
export function secretsOfAll(units: readonly GatewayServerSpec[]): string[] {
  return units.flatMap(secretsOf).filter((secret) => !units.some(({ name }) => name.includes(secret)));
}

/** The same, of what was typed: variables, `Name: value` headers, an address. */
export function secretsOfWords(words: TypedWords): string[] {
  const headers = (words.header ?? []).map((each) => /^([^:]*):\s*(.*)$/s.exec(each) ?? ['', '', each]);
  return [
    ...secretVariables(words.env ?? {}),
    ...headers.flatMap(([, name, value]) => secretHeaders({ [name ?? '']: value ?? '' })),
    ...(words.clientSecret === undefined ? [] : [words.clientSecret]),
    ...secretsInUrl(words.upstream ?? ''),
  ];
}

export interface TypedWords {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly header?: readonly string[] | undefined;
  readonly upstream?: string | undefined;
  readonly clientSecret?: string | undefined;
}

export function secretVariables(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    // `USE_TOKEN=true` has the name of a secret; a weak password is a secret all the same.
    if (isSecretName(name)) return isSwitch(value) ? [] : [value];
    const isHarmless = isHarmlessVariable(name) || isHarmlessValue(value);
    return value.length >= LONG_ENOUGH && !isHarmless ? [value] : [];
  });
}

function secretHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const parts = withoutScheme(value);
    if (isSecretName(name)) return parts;
    return isHarmlessHeader(name) ? [] : parts.filter((part) => part.length >= LONG_ENOUGH);
  });
}

/** Some services give out addresses that are keys. */
function secretsInUrl(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { pathname, searchParams } = new URL(text);
  return [...searchParams.values(), ...pathname.split('/').filter(looksRandom)];
}

function looksRandom(segment: string): boolean {
  return /^[\w+/=.~-]{24,}$/.test(segment) && /\d/.test(segment);
}

/** `Bearer abc` is seen as a whole and as `abc`. */
function withoutScheme(value: string): string[] {
  const token = /^[A-Za-z-]+ +(\S.*)$/.exec(value)?.[1];
  return token === undefined ? [value] : [value, token];
}

/** Shorter values are in many a text by chance. */
const LONG_ENOUGH = 8;

/** Variables whose values are not secret: paths, locale, appearance. */
export function isHarmlessVariable(name: string): boolean {
  const upper = name.toUpperCase();
  return VARIABLES.has(upper) || FAMILIES.test(upper);
}

/** Values that are common in text: the names of this machine, and settings that many programs have. */
export function isHarmlessValue(value: string): boolean {
  return VALUES.has(value.toLowerCase());
}

/** Values that switch something on or off. */
export function isSwitch(value: string): boolean {
  return value === 'true' || value === 'false';
}

/** Headers that describe the protocol and not the caller. */
export function isHarmlessHeader(name: string): boolean {
  return HEADERS.has(name.toLowerCase());
}

const VARIABLES: ReadonlySet<string> = new Set([
  ...[
    'PATH',
    'PATHEXT',
    'HOME',
    'PWD',
    'OLDPWD',
    'USER',
    'USERNAME',
    'LOGNAME',
    'SHELL',
    'SHLVL',
    '_',
    'MAIL',
  ],
  ...['LANG', 'LANGUAGE', 'TZ', 'TERM', 'TERM_PROGRAM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR', 'COLUMNS'],
  ...['TMP', 'TEMP', 'TMPDIR', 'HOST', 'HOSTNAME', 'HOSTTYPE', 'MACHTYPE', 'OSTYPE', 'PORT', 'DISPLAY'],
  ...[
    'EDITOR',
    'VISUAL',
    'PAGER',
    'BROWSER',
    'CI',
    'DEBUG',
    'VERBOSE',
    'LOG_LEVEL',
    'LOGLEVEL',
    'LOG_FORMAT',
  ],
  ...['NODE_ENV', 'NODE_PATH', 'NODE_VERSION', 'NVM_DIR', 'NVM_BIN', 'JAVA_HOME', 'GOPATH', 'GOROOT'],
  ...[
    'CARGO_HOME',
    'RUSTUP_HOME',
    'PYTHONPATH',
    'PYTHONHOME',
    'PYTHONUNBUFFERED',
    'VIRTUAL_ENV',
    'PNPM_HOME',
  ],
  ...['USERPROFILE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'PROGRAMFILES', 'SYSTEMROOT'],
  ...['WINDIR', 'COMSPEC', 'OS', 'PROCESSOR_ARCHITECTURE', 'LD_LIBRARY_PATH', 'SSH_AUTH_SOCK', 'INIT_CWD'],
]);
/** Variables that desktops, package managers and editors set for every program. */
const FAMILIES =
  /^(?:LC_|XDG_|NPM_PACKAGE_|NPM_LIFECYCLE_|NPM_NODE_|NPM_EXECPATH$|GNOME_|KDE_|QT_|GTK_|DBUS_|TERM_)/;

const VALUES: ReadonlySet<string> = new Set([
  'localhost',
  '127.0.0.1',
  'production',
  'development',
  'disabled',
  'required',
  'optional',
]);

const HEADERS: ReadonlySet<string> = new Set([
  ...['accept', 'accept-encoding', 'accept-language', 'cache-control', 'content-type', 'user-agent'],
  ...['mcp-protocol-version', 'connection', 'host', 'pragma'],
]);
