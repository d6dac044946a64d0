import { childEnvironment } from '../../process/environment.js';

export interface CountedEnvironment {
  /** What makes a difference: hosts that differ in it do not share. */
  readonly counted: Readonly<Record<string, string>>;
  /** Says something about the host rather than about the server, and is taken from the first. */
  readonly ambient: Readonly<Record<string, string>>;
}

/**
 * All variables that the process of a server gets. The daemon may have been started by somebody else, so they are
 * taken from here. Where nothing is said about them, those that any program gets are inherited; of these only the
 * way to programs and to the home make a difference.
 */
export function countedEnvironment(
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly inheritEnv: 'minimal' | 'all' | readonly string[] | undefined;
  },
  ours: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): CountedEnvironment {
  const { env, inheritEnv = 'minimal' } = options;
  const all = childEnvironment({ env, inheritEnv }, ours, platform);
  const given = new Set(Object.keys(env).map((name) => name.toUpperCase()));
  const counts = (name: string) =>
    inheritEnv !== 'minimal' || given.has(name.toUpperCase()) || COUNTED.has(name.toUpperCase());
  const pick = (isWanted: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => isWanted(name)));
  return { counted: pick(counts), ambient: pick((name) => !counts(name)) };
}

const COUNTED: ReadonlySet<string> = new Set(['PATH', 'HOME', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA']);
