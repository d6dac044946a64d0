import { type Command, InvalidArgumentError, Option } from 'commander';
import { collect, toMs, toVariable } from '../common-options.js';

/** What `isthmus attach` takes. */
export interface AttachCommandOptions {
  readonly config?: readonly string[];
  readonly input?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly header?: readonly string[];
  readonly transport?: 'http-first' | 'http-only' | 'sse-first' | 'sse-only';
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly passEnvironment?: boolean;
  readonly mode?: string;
  readonly ignoreTool?: readonly string[];
  readonly timeout?: number;
  readonly grace: number;
  readonly daemon: boolean;
}

export function addAttachOptions(command: Command): Command {
  return command
    .option(
      '-c, --config <file>',
      'the file that has NAME; repeatable, later files win (default: see below)',
      collect,
    )
    .option(
      '--input <id=value>',
      'a value that the file leaves to its editor to ask for (input:id); repeatable',
      toInput,
    )
    .option('-u, --url <url>', 'a remote server')
    .option(
      '-H, --header <header>',
      'a header for every request to it; it may name variables (see below); repeatable',
      collect,
    )
    .addOption(
      new Option('--transport <strategy>', 'how to talk to it (default: http-first)').choices([
        'http-first',
        'http-only',
        'sse-first',
        'sse-only',
      ]),
    )
    .option(
      '--env <name=value>',
      'a variable for the command; --env NAME passes on your own; repeatable',
      toVariable,
    )
    .option('--cwd <folder>', 'the folder that the command runs in (default: this one)')
    .option('--pass-environment', 'the command gets your whole environment, and is shared less')
    .option(
      '-m, --mode <mode>',
      'auto finds out the era of the server; modern, legacy or a revision insists on it (default: auto)',
    )
    .option('--ignore-tool <pattern>', 'leave out a tool of the server; * is any text; repeatable', collect)
    .option('-t, --timeout <ms>', 'how long the server may take over one call (default: 600000)', toMs)
    .option('--grace <ms>', 'how long the server is kept when the last host has gone', toGrace, 30_000)
    .option('--no-daemon', 'share nothing: the server is a child of this process, and ends with it');
}

function toGrace(text: string): number {
  return text === '0' ? 0 : toMs(text);
}

function toInput(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('Write ID=VALUE.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
