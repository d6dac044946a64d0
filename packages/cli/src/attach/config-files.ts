import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { usageError } from '../cli-error.js';

export interface ConfigFilePlaces {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  readonly home?: string;
  readonly exists?: (file: string) => boolean;
}

/**
 * The files of `--config`; without it those of `ISTHMUS_CONFIG`, or the user's own. The files of applications are not
 * looked into unasked: in one of them this very command may be the definition of the name.
 */
export function configFiles(
  given: readonly string[] | undefined,
  {
    env = process.env,
    platform = process.platform,
    home = homedir(),
    exists = existsSync,
  }: ConfigFilePlaces = {},
): readonly string[] {
  if (given) return given;
  const listed = env['ISTHMUS_CONFIG']?.split(delimiter).filter(Boolean) ?? [];
  if (listed.length > 0) return listed;
  const folder =
    platform === 'win32'
      ? join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'isthmus')
      : join(home, '.config', 'isthmus');
  const own = join(folder, 'mcp.json');
  if (exists(own)) return [own];
  throw usageError(
    'There is no configuration to look for the name in',
    `Give --config FILE, or put the servers into ${own}; -- COMMAND ARGS… and --url URL need none`,
  );
}
