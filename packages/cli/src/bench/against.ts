import { splitCommand } from '../compat/split-command.js';
import { findConfigured } from '../config-target.js';
import { type CommandTarget, commandTarget, type TargetSettings, targetAt } from '../target.js';

/** Whom `--against` names: an address, a server of `--config`, or a command line in quotes. */
export async function toOpponent(
  text: string,
  {
    config,
    input,
  }: { readonly config?: readonly string[]; readonly input?: Readonly<Record<string, string>> },
): Promise<CommandTarget> {
  const address = targetAt(text);
  if (address) return address;
  if (config && !/\s/.test(text.trim())) {
    const { target, warnings } = await findConfigured('bench', config, text, input);
    for (const warning of warnings) process.stderr.write(`isthmus: warning: ${warning}\n`);
    return target;
  }
  const [command = '', ...args] = splitCommand(text, '--against');
  return commandTarget(command, args);
}

/**
 * Of several targets each gets the options that are for its kind: headers for URLs, variables and a folder for commands.
 * Where there is none of the kind, they are left to the first, which will complain.
 */
export function settingsFor(
  target: CommandTarget,
  all: readonly CommandTarget[],
  { cwd, env, header }: TargetSettings,
): TargetSettings {
  const isFirst = target === all[0];
  const takes = (kind: CommandTarget['kind']) =>
    target.kind === kind || (isFirst && all.every((each) => each.kind !== kind));
  return { ...(takes('command') && { cwd, env }), ...(takes('url') && { header }) };
}
