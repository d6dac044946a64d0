import type { Changes, Wanted } from '@isthmus/sdk/internal/client/subscriptions.js';
import { LOGGING_LEVELS } from '@isthmus/sdk/internal/era/reports.js';
import type { LogEntry, LoggingLevel, ServerCapabilities } from '@isthmus/sdk/internal/wire/model.js';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { chooseTarget, type GivenOptions } from '../../choose-target.js';
import { CliError, EXIT } from '../../cli-error.js';
import { type CommonOptions, clientCommand } from '../../common-options.js';
import { type CliSession, withSession } from '../../session/session.js';
import { processTerminal, type Terminal } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';
import { setLogLevel } from '../call.js';

interface ListenOptions extends CommonOptions {
  readonly count?: number;
  readonly for?: number;
  readonly logLevel: LoggingLevel;
}

export function listenCommand(afterDashes: readonly string[] | undefined): Command {
  return clientCommand('listen', ' [URI …]', {
    description: 'Print changes and logs of a server as they come, until Ctrl-C.',
    help: [HELP],
    examples: [
      'isthmus listen http://127.0.0.1:8080/mcp',
      'isthmus listen unix:/tmp/demo.sock demo://clock --count 3',
      'isthmus listen --config .mcp.json notes --for 60 --json | jq -r \'select(.kind == "log") | .data\'',
    ],
  })
    .option('--count <n>', 'stop after this many lines', toCount)
    .option('--for <seconds>', 'stop after this time', toSeconds)
    .addOption(
      new Option('--log-level <level>', 'logs from this level on').choices(LOGGING_LEVELS).default('info'),
    )
    .action(async (args: string[], given: GivenOptions<ListenOptions>) => {
      const { target, rest, options } = await chooseTarget('listen', args, afterDashes, given);
      const terminal = processTerminal();
      const output = createOutput(terminal, options);
      const settings = { ...options, cache: true, onLog: output.log };
      process.exitCode = await withSession(target, settings, terminal, (session) =>
        listen(rest, session, terminal, options, output),
      );
    });
}

const HELP = `
Without URIs: changes of the lists of tools, prompts and resources, and logs. With URIs: also updates of these resources.
A modern server sends logs only while it answers a request, so listen shows those of legacy servers. With --json each
line is an object: {"at":…,"kind":"tools"|"prompts"|"resources"|"resource"|"log",…}.`;

async function listen(
  uris: readonly string[],
  session: CliSession,
  terminal: Terminal,
  options: ListenOptions,
  output: Output,
): Promise<number> {
  const { client, interrupted } = session;
  const { capabilities } = client.server;
  const wanted = wantedOf(capabilities, uris);
  const name = oneLine(client.server.info?.name ?? session.connector.label);
  const kinds = [
    ...(['tools', 'prompts', 'resources'] as const).filter((kind) => wanted[kind]),
    ...uris.map(oneLine),
    ...(capabilities.logging ? ['logs'] : []),
  ];
  if (kinds.length === 0) throw new CliError(EXIT.protocol, `${name} announces no changes and sends no logs`);
  await setLogLevel(session, options.logLevel);
  const changes = await client.listen(wanted);
  terminal.stderr.write(terminal.err.dim(`listening to ${name}: ${kinds.join(', ')}; Ctrl-C stops\n`));
  return printUntil(changes, interrupted, options.for, output);
}

/** Prints until the limit, the time or Ctrl-C. */
async function printUntil(
  changes: Changes,
  interrupted: AbortSignal,
  seconds: number | undefined,
  output: Output,
): Promise<number> {
  const stop = () => changes.close();
  const timer = seconds === undefined ? undefined : setTimeout(stop, seconds * 1000);
  output.onFull(stop);
  interrupted.addEventListener('abort', stop);
  try {
    for await (const change of changes) output.print(change.kind, 'uri' in change ? { uri: change.uri } : {});
  } finally {
    clearTimeout(timer);
    interrupted.removeEventListener('abort', stop);
  }
  return interrupted.aborted ? EXIT.interrupted : EXIT.ok;
}

function wantedOf(capabilities: ServerCapabilities, uris: readonly string[]): Wanted {
  const { tools, prompts, resources } = capabilities;
  return {
    ...(tools?.listChanged && { tools: true }),
    ...(prompts?.listChanged && { prompts: true }),
    ...(resources?.listChanged && { resources: true }),
    ...(uris.length > 0 && { uris }),
  };
}

interface Output {
  print(kind: string, more: Readonly<Record<string, unknown>>): void;
  log(entry: LogEntry): void;
  /** Called once, when `--count` lines are printed. */
  onFull(call: () => void): void;
}

function createOutput(
  { stdout, out, readsOutput }: Terminal,
  { json, count }: GivenOptions<ListenOptions>,
): Output {
  let printed = 0;
  let full = () => {};
  const print: Output['print'] = (kind, more) => {
    if (count !== undefined && printed >= count) return;
    printed += 1;
    const at = new Date().toISOString();
    const when = out.dim(readsOutput ? at.slice(11, 23) : at);
    stdout.write(json ? `${JSON.stringify({ at, kind, ...more })}\n` : `${when} ${describe(kind, more)}\n`);
    if (printed === count) full();
  };
  return {
    print,
    log: ({ level, logger, data }) => print('log', { level, ...(logger !== undefined && { logger }), data }),
    onFull(call) {
      full = call;
      if (printed === count) call();
    },
  };
}

function describe(kind: string, { uri, level, logger, data }: Readonly<Record<string, unknown>>): string {
  if (kind === 'resource') return `${oneLine(String(uri))} was updated`;
  if (kind !== 'log') return `the list of ${kind} changed`;
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return oneLine(`[${String(level)}] ${logger === undefined ? '' : `${String(logger)}: `}${text}`);
}

function toCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number, 1 or more.');
}

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && seconds > 0 && seconds <= DAY_S) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, up to 86400 (one day).');
}

const DAY_S = 24 * 60 * 60;
