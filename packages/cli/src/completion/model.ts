import type { Argument, Command, Option } from 'commander';

/** What a shell offers for the value of an option, or for the argument of a command. */
export type Completes =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text' }
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' }
  /** Names of servers. The script asks the program for them. */
  | { readonly kind: 'servers' }
  | { readonly kind: 'choices'; readonly choices: readonly string[] };

export interface CompletedOption {
  readonly long: string | undefined;
  readonly short: string | undefined;
  readonly description: string;
  readonly value: Completes;
}

export interface CompletedCommand {
  /** `serve`, `config check`; empty for the program itself. */
  readonly path: string;
  readonly options: readonly CompletedOption[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly argument: Completes;
}

/** The program and all its commands, read from commander. */
export function completedCommands(commands: readonly Command[]): readonly CompletedCommand[] {
  const shown = commands.filter((command) => !isHidden(command));
  const root: CompletedCommand = {
    path: '',
    options: [HELP, VERSION],
    commands: shown.map(named),
    argument: { kind: 'nothing' },
  };
  return [root, ...shown.flatMap((command) => completed(command, ''))];
}

function completed(command: Command, parent: string): CompletedCommand[] {
  const path = `${parent} ${command.name()}`.trim();
  const below = command.commands.filter((each) => !isHidden(each));
  const own: CompletedCommand = {
    path,
    options: [...command.options.filter(({ hidden }) => !hidden).map(completedOption), HELP],
    commands: below.map(named),
    argument: completedArgument(command.registeredArguments),
  };
  return [own, ...below.flatMap((each) => completed(each, path))];
}

function completedOption({
  long,
  short,
  description,
  required,
  optional,
  flags,
  argChoices,
}: Option): CompletedOption {
  const value = required || optional ? completedValue(flags, argChoices) : ({ kind: 'nothing' } as const);
  return { long, short, description: firstSentence(description), value };
}

function completedValue(flags: string, choices: readonly string[] | undefined): Completes {
  if (choices) return { kind: 'choices', choices };
  const [, name = ''] = /[<[](\w+)/.exec(flags) ?? [];
  if (name === 'folder') return { kind: 'folders' };
  // The path of another option is that of a URL.
  const isFile = name === 'file' || (name === 'path' && flags.includes('--socket'));
  return isFile ? { kind: 'files' } : { kind: 'text' };
}

function completedArgument([argument]: readonly Argument[]): Completes {
  if (!argument) return { kind: 'nothing' };
  if (argument.argChoices) return { kind: 'choices', choices: argument.argChoices };
  if (/^files?$/.test(argument.name())) return { kind: 'files' };
  // server-names.ts decides whether those of files or those of the running gateway are offered.
  return { kind: 'servers' };
}

function named(command: Command): { readonly name: string; readonly description: string } {
  return { name: command.name(), description: firstSentence(command.description()) };
}

/** Commander has no public property for it. */
function isHidden(command: Command): boolean {
  return (command as unknown as { _hidden?: boolean })._hidden === true;
}

function firstSentence(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[;.] .*$/, '')
    .replace(/\.$/, '');
}

const HELP: CompletedOption = {
  long: '--help',
  short: '-h',
  description: 'show help',
  value: { kind: 'nothing' },
};

const VERSION: CompletedOption = {
  long: '--version',
  short: '-v',
  description: 'print the version',
  value: { kind: 'nothing' },
};
