import { Command, InvalidArgumentError, Option } from 'commander';
import { exitHelp } from './cli-error.js';
import { type AuthFlags, authOptions } from './login/auth-options.js';
import { toEra } from './serve/option-values.js';
import { ADDRESS_HELP, TARGET_HELP } from './target.js';

/** The options of every command that connects to a server. */
export interface CommonOptions extends AuthFlags {
  readonly mode: string;
  readonly timeout?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly header?: readonly string[];
  readonly json?: boolean;
  readonly stderr?: boolean;
}

interface ClientCommandTexts {
  readonly description: string;
  readonly examples: readonly string[];
  readonly help?: readonly string[];
  /** When it exits with 1. */
  readonly failed?: string;
  /** A word before TARGET. */
  readonly usage?: string;
  /** Where the exit codes mean something else than for other commands. */
  readonly exits?: string;
  readonly timeout?: string;
  /** What happens for a configuration file without NAME, where the names are not listed. */
  readonly withoutName?: string;
  /** Common options that the command does not have. */
  readonly without?: readonly ('--era' | '--stderr')[];
  /** The server must run already: the command does not start one. */
  readonly needsAddress?: boolean;
}

/** A command that connects to a server. Its action parses the arguments, since TARGET may be a command after `--`. */
export function clientCommand(name: string, args: string, texts: ClientCommandTexts): Command {
  const { description, examples, help = [], without = [], withoutName = 'the names are listed' } = texts;
  const first = texts.usage === undefined ? '' : `${texts.usage} `;
  const exits = texts.exits ?? exitHelp(texts.failed);
  const { needsAddress = false } = texts;
  const behind = `isthmus ${name} ${first}${args.trimStart()}${args === '' ? '' : ' '}[options] -- COMMAND ARGS…`;
  const command = new Command(name)
    .description(description)
    .usage(
      [
        `${first}TARGET${args} [options]`,
        ...(needsAddress ? [] : [behind]),
        `isthmus ${name} ${first}--config FILE ${texts.withoutName === undefined ? 'NAME' : '[NAME]'}${args} [options]`,
      ].join('\n       '),
    )
    .argument('[args...]')
    .configureHelp({ visibleArguments: () => [] })
    .addHelpText(
      'after',
      [
        needsAddress ? ADDRESS_HELP : TARGET_HELP,
        `Without NAME, ${withoutName}.`,
        ...help,
        '',
        'Examples:',
        ...examples.map((line) => `  ${line}`),
        exits,
      ].join('\n'),
    )
    .showHelpAfterError(`(isthmus ${name} --help explains the options)`)
    .exitOverride();
  const left: readonly string[] = needsAddress ? [...without, ...OF_COMMANDS] : without;
  for (const option of commonOptions(texts.timeout ?? TIMEOUT)) {
    if (!left.includes(option.long ?? '')) command.addOption(option);
  }
  return command;
}

/** They say how a server is started. */
const OF_COMMANDS = ['--cwd', '--env', '--stderr'];

const TIMEOUT =
  'limit for connecting, and for each answer (default: 30000 to connect, and 60000 without an answer or progress)';

function commonOptions(timeout: string): readonly Option[] {
  return [
    new Option(
      '-c, --config <file>',
      'use the server NAME of this configuration file; repeatable, later files win',
    ).argParser(collect),
    new Option(
      '--input <id=value>',
      'a value for input:ID of the file, which an editor would ask for; repeatable',
    ).argParser(toInput),
    eraOption(),
    new Option('-t, --timeout <ms>', timeout).argParser(toMs),
    new Option('--cwd <folder>', 'the folder that the command runs in'),
    new Option(
      '--env <name=value>',
      'a variable for the command; --env NAME passes on your own; repeatable',
    ).argParser(toVariable),
    new Option(
      '-H, --header <header>',
      'a header for every request to a URL, "Name: value"; repeatable',
    ).argParser(collect),
    ...authOptions(),
    new Option('--stderr', 'show what the command writes to stderr'),
    new Option('--json', 'print the exact result as JSON, for programs'),
  ];
}

/** In the code it is the `mode` of a connection, as in configuration files. */
function eraOption(): Option {
  const option = new Option(
    '-e, --era <era>',
    'auto detects the era of the server; modern, legacy or a revision requires it (default: auto)',
  ).argParser(toEra);
  option.attributeName = () => 'mode';
  return option;
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

/** The longest that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function toVariable(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at > 0) return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  if (at === 0 || text === '') throw new InvalidArgumentError('Write NAME=VALUE.');
  const own = process.env[text];
  if (own === undefined) throw new InvalidArgumentError(`${text} is not set here; write ${text}=VALUE.`);
  return { ...before, [text]: own };
}

export function toInput(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('Write ID=VALUE.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
