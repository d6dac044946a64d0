import type { Command } from 'commander';

/** What a command of ours knows of an option: whether a value follows. */
export interface KnownOption {
  readonly takesValue: boolean;
}

/** The options of a command by every name that they have. */
export function knownOptions(command: Command): ReadonlyMap<string, KnownOption> {
  const known = new Map<string, KnownOption>([
    ['--help', { takesValue: false }],
    ['-h', { takesValue: false }],
  ]);
  for (const { long, short, required, optional } of command.options) {
    for (const name of [long, short]) if (name) known.set(name, { takesValue: required || optional });
  }
  return known;
}
