/** Variables whose values are known to everybody who runs programs: paths, places, looks. */
export function isHarmlessVariable(name: string): boolean {
  const upper = name.toUpperCase();
  return VARIABLES.has(upper) || FAMILIES.test(upper);
}

/** Values that are in many a text: the names of this machine for itself, and settings that many programs have. */
export function isHarmlessValue(value: string): boolean {
  return VALUES.has(value.toLowerCase());
}

/** Values that turn something on or off. */
export function isSwitch(value: string): boolean {
  return value === 'true' || value === 'false';
}

/** Headers that say what is spoken, and not who speaks. */
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
/** What desktops, package managers and editors set for every program. */
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
