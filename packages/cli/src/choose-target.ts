import { usageError } from './cli-error.js';
import type { CommonOptions } from './common-options.js';
import { withAuth } from './login/auth-options.js';
import { type CommandTarget, takeTarget } from './target.js';

/** The typed options of a command. The file of `--config` may have the others. */
export type GivenOptions<Options extends CommonOptions = CommonOptions> = Omit<Options, 'mode'> & {
  readonly mode?: string;
  readonly config?: readonly string[];
  readonly input?: Readonly<Record<string, string>>;
};

/** Finds the server in the arguments or in the files of `--config`, and merges the options. */
export async function chooseTarget<Options extends CommonOptions>(
  name: string,
  words: readonly string[],
  behind: readonly string[] | undefined,
  given: GivenOptions<Options>,
): Promise<{ readonly target: CommandTarget; readonly rest: readonly string[]; readonly options: Options }> {
  const { config, input, ...others } = given;
  const withMode = (mode: string | undefined, timeout?: number) =>
    ({ ...(timeout !== undefined && { timeout }), ...others, mode: given.mode ?? mode ?? 'auto' }) as Options;
  if (!config) {
    if (input) throw usageError('--input is for a server of --config FILE');
    const { target, rest } = takeTarget(name, words, behind);
    return { target: await withAuth(target, given), rest, options: withMode(undefined) };
  }
  if (behind) {
    throw usageError(
      'Two targets: a server of --config, and the command after --',
      'Give one of them; the file already has the arguments of the server',
    );
  }
  const { findConfigured } = await import('./config-target.js');
  const { target, warnings } = await findConfigured(name, config, words[0], input);
  for (const warning of warnings) process.stderr.write(`isthmus: warning: ${warning}\n`);
  const options = withMode(target.mode, target.timeoutMs);
  return { target: await withAuth(target, given), rest: words.slice(1), options };
}
