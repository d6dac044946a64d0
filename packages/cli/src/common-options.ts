import { Command, InvalidArgumentError } from 'commander';
import { EXIT_HELP } from './exit-codes.js';
import { TARGET_HELP } from './target.js';

/** What every command that talks to a server takes. */
export interface CommonOptions {
  readonly mode: string;
  readonly timeout?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly header?: readonly string[];
  readonly json?: boolean;
  readonly stderr?: boolean;
}

/** A command that talks to a server: its words are parsed by the action, since TARGET may be behind `--`. */
export function clientCommand(
  name: string,
  words: string,
  about: {
    readonly description: string;
    readonly examples: readonly string[];
    readonly help?: readonly string[];
    /** Where the codes mean something else than elsewhere. */
    readonly exitHelp?: string;
  },
): Command {
  return new Command(name)
    .description(about.description)
    .usage(
      [
        `TARGET${words} [options]`,
        `isthmus ${name}${words} [options] -- COMMAND ARGS…`,
        `isthmus ${name} --config FILE NAME${words} [options]`,
      ].join('\n       '),
    )
    .argument('[words...]')
    .configureHelp({ visibleArguments: () => [] })
    .option(
      '-c, --config <file>',
      'take the server NAME of this file; repeatable, and later files win',
      collect,
    )
    .option(
      '--input <id=value>',
      'a value that the file leaves to its editor to ask for (input:id); repeatable',
      toInput,
    )
    .option(
      '-m, --mode <mode>',
      'auto finds out the era; modern, legacy or a revision insists on it (default: auto)',
    )
    .option(
      '-t, --timeout <ms>',
      'how long connecting, and each answer, may take (default: 30000 to connect, and 60000 without an answer or progress)',
      toMs,
    )
    .option('--cwd <folder>', 'the folder that the command runs in')
    .option(
      '--env <name=value>',
      'a variable for the command; --env NAME passes on your own; repeatable',
      toVariable,
    )
    .option(
      '-H, --header <header>',
      'a header for every request to a URL, "Name: value"; repeatable',
      collect,
    )
    .option('--stderr', 'show what the command writes to stderr, as it comes')
    .option('--json', 'print the exact result as JSON, for programs')
    .addHelpText(
      'after',
      [TARGET_HELP, ...(about.help ?? []), examples(about.examples), about.exitHelp ?? EXIT_HELP].join('\n'),
    )
    .showHelpAfterError(`(isthmus ${name} --help explains the options)`)
    .exitOverride();
}

function examples(lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');
}

/** For an option that may be given more than once. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

export function toMs(text: string): number {
  const ms = Number(text);
  if (!/^\d+$/.test(text) || ms < 1 || ms > MAX_TIMER_MS) {
    throw new InvalidArgumentError('It must be a number of milliseconds, 1 or more.');
  }
  return ms;
}

/** The longest that Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function toVariable(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at > 0) return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  const ours = process.env[text];
  if (at === 0 || text === '') throw new InvalidArgumentError('Write NAME=VALUE.');
  if (ours === undefined) throw new InvalidArgumentError(`${text} is not set here; write ${text}=VALUE.`);
  return { ...before, [text]: ours };
}

export function toInput(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('Write ID=VALUE.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
