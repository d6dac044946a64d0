import type { ChildOptions } from './child.js';

/**
 * The variables that a child gets. By default only those that a program needs to run: third-party servers must not see
 * the tokens in our environment.
 */
export function childEnvironment(
  { env = {}, inheritEnv = 'minimal' }: Pick<ChildOptions, 'env' | 'inheritEnv'>,
  ours: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const windows = platform === 'win32';
  // On Windows `Path` and `PATH` are one variable.
  const keyOf = (name: string) => (windows ? name.toUpperCase() : name);
  const allowed = inheritEnv === 'all' ? undefined : new Set(namesOf(inheritEnv, windows).map(keyOf));

  const result = new Map<string, readonly [name: string, value: string]>();
  for (const [name, value] of Object.entries(ours)) {
    if (value === undefined || isShellFunction(value)) continue;
    if (allowed?.has(keyOf(name)) ?? true) result.set(keyOf(name), [name, value]);
  }
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) result.delete(keyOf(name));
    else result.set(keyOf(name), [name, value]);
  }
  return Object.fromEntries(result.values());
}

/** A function that a shell exported. Shells run these at their start, so they are not inherited. */
function isShellFunction(value: string): boolean {
  return value.startsWith('() {');
}

function namesOf(inheritEnv: 'minimal' | readonly string[], windows: boolean): readonly string[] {
  if (inheritEnv !== 'minimal') return inheritEnv;
  return windows ? MINIMAL_ON_WINDOWS : MINIMAL_ON_POSIX;
}

const MINIMAL_ON_POSIX = [
  'HOME',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'TMPDIR',
  'TZ',
  'USER',
] as const;

const MINIMAL_ON_WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'ProgramData',
  'ProgramFiles',
  'ProgramFiles(x86)',
  'ProgramW6432',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
] as const;
