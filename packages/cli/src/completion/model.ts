import type { Argument, Command, Option } from 'commander';

/** What can follow: an option's value, or a word of a command. */
export type Follows =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text' }
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' }
  /** Names of servers, which the program is asked for. */
  | { readonly kind: 'servers' }
  | { readonly kind: 'choices'; readonly choices: readonly string[] };

export interface CompletedOption {
  readonly long: string | undefined;
  readonly short: string | undefined;
  readonly description: string;
  readonly value: Follows;
}

export interface CompletedCommand {
  /** `serve`, `config check`; empty for the program itself. */
  readonly path: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly words: Follows;
  /** A command of the user's may follow behind `--`. */
  readonly takesCommand: boolean;
}

/** The program and all its commands, as commander knows them. */
export function completedCommands(commands: readonly Command[]): readonly CompletedCommand[] {
  const shown = commands.filter((command) => !isHidden(command));
  const root: CompletedCommand = {
    path: '',
    description: '',
    options: [HELP, VERSION],
    commands: shown.map(named),
    words: { kind: 'nothing' },
    takesCommand: false,
  };
  return [root, ...shown.flatMap((command) => completed(command, ''))];
}

function completed(command: Command, parent: string): CompletedCommand[] {
  const path = `${parent} ${command.name()}`.trim();
  const below = command.commands.filter((each) => !isHidden(each));
  const own: CompletedCommand = {
    path,
    description: firstSentence(command.description()),
    options: [...command.options.filter(({ hidden }) => !hidden).map(completedOption), HELP],
    commands: below.map(named),
    words: wordsOf(command.registeredArguments),
    takesCommand: command.usage().includes('-- COMMAND'),
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
  const value = required || optional ? valueOfOption(flags, argChoices) : ({ kind: 'nothing' } as const);
  return { long, short, description: firstSentence(description), value };
}

function valueOfOption(flags: string, choices: readonly string[] | undefined): Follows {
  if (choices) return { kind: 'choices', choices };
  const [, name = ''] = /[<[](\w+)/.exec(flags) ?? [];
  if (name === 'folder') return { kind: 'folders' };
  // Others are paths of URLs.
  const isFile = name === 'file' || (name === 'path' && flags.includes('--socket'));
  return isFile ? { kind: 'files' } : { kind: 'text' };
}

function wordsOf([argument]: readonly Argument[]): Follows {
  if (!argument) return { kind: 'nothing' };
  if (argument.argChoices) return { kind: 'choices', choices: argument.argChoices };
  if (/^files?$/.test(argument.name())) return { kind: 'files' };
  // Those of files and of the running gateway: the program knows which.
  return { kind: 'servers' };
}

function named(command: Command): { readonly name: string; readonly description: string } {
  return { name: command.name(), description: firstSentence(command.description()) };
}

/** Commander keeps it to itself. */
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
  description: 'explain it',
  value: { kind: 'nothing' },
};

const VERSION: CompletedOption = {
  long: '--version',
  short: '-v',
  description: 'print the version',
  value: { kind: 'nothing' },
};
