import type { CallOptions } from '@isthmus/sdk/internal/client/call-options.js';
import type { Client } from '@isthmus/sdk/internal/client/client.js';
import { connect } from '@isthmus/sdk/internal/client/connect.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import type { InvalidMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { LogEntry, LoggingLevel } from '@isthmus/sdk/internal/wire/model.js';
import { CliError } from '../cli-error.js';
import type { CommonOptions } from '../common-options.js';
import { describeFailure } from '../describe-failure.js';
import type { CommandTarget } from '../target.js';
import { createPrompter } from '../terminal/ask-form.js';
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.js';
import type { Style, Terminal } from '../terminal/terminal.js';
import { oneLine, printable } from '../terminal/text.js';
import { answerQuestions, toGiven, toRoots } from './answer-questions.js';
import { catchSignals } from './catch-signals.js';
import { AnswerDeadlines } from './deadlines.js';
import { connectorOf } from './target-connector.js';
import { type WatchedConnector, watchConnector } from './watch-connector.js';

export interface ClientCommandOptions extends CommonOptions {
  readonly progress?: boolean;
  readonly answer?: readonly string[];
  readonly root?: readonly string[];
  /** Whether the server may ask for the roots. Default true. */
  readonly roots?: boolean;
  readonly logLevel?: LoggingLevel;
  /** Whether to use the era that an earlier command found. */
  readonly cache: boolean;
  readonly onNoise?: (line: InvalidMessage) => void;
  /** Gets the logs of the server. Default: they go to stderr. */
  readonly onLog?: (entry: LogEntry) => void;
  /** What the command asks for, for hints. */
  readonly list?: 'tools' | 'resources' | 'prompts';
  /** What Ctrl-C has done. Default: it has cancelled the request. */
  readonly interruptedNote?: string;
}

/** The connected client of one command. */
export interface CliSession {
  readonly client: Client;
  readonly connector: WatchedConnector;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly interrupted: AbortSignal;
  /** Makes one request with a time limit. Progress and logs go to stderr, and Ctrl-C cancels it. */
  request<T>(what: string, make: (options: CallOptions) => Promise<T>): Promise<T>;
}

/** Connects, does the work, closes. Failures become a `CliError`. Returns the exit code that `work` returns. */
export async function withSession(
  target: CommandTarget,
  options: ClientCommandOptions,
  terminal: Terminal,
  work: (session: CliSession) => Promise<number>,
): Promise<number> {
  const mode = terminal.readsErrors ? 'live' : options.progress ? 'plain' : 'none';
  const line = createProgressLine(terminal.stderr, mode, terminal.err);
  const connector = watchConnector(
    connectorOf(target, options),
    options.stderr ? (text) => line.write(text) : undefined,
  );
  const interruption = catchSignals(line);
  const deadlines = new AnswerDeadlines(line);
  let client: Client | undefined;
  try {
    client = await connect(
      connector,
      connectOptions(connector, options, terminal, line, deadlines, interruption),
    );
    connector.stopWatching();
    const session = createSession(client, connector, options, terminal, line, deadlines, interruption.signal);
    return await work(session);
  } catch (error) {
    if (interruption.signal.aborted) {
      throw new CliError(
        interruption.exitCode(),
        client ? (options.interruptedNote ?? 'Interrupted; the request was cancelled') : 'Interrupted',
      );
    }
    if (process.env['ISTHMUS_DEBUG']) console.error(error);
    throw describeFailure(error, {
      target,
      label: connector.label,
      connected: client !== undefined,
      mode: options.mode,
      stderrTail: connector.stderrTail(),
      list: options.list,
    });
  } finally {
    line.hide();
    await client?.close();
    interruption.release();
  }
}

/** The client must not time out by itself: the deadlines of the command stop while the user answers a question. */
const DAY_MS = 24 * 60 * 60 * 1000;
const ANSWER_MS = 60_000;

function connectOptions(
  connector: WatchedConnector,
  options: ClientCommandOptions,
  terminal: Terminal,
  line: ProgressLine,
  deadlines: AnswerDeadlines,
  interruption: { readonly signal: AbortSignal; interrupt(): void },
) {
  const { stdin, stderr, canAsk, err } = terminal;
  return {
    mode: options.mode,
    signal: interruption.signal,
    info: { name: 'isthmus-cli', version: VERSION },
    reconnect: false,
    timeoutMs: DAY_MS,
    ...(options.timeout !== undefined && { connectTimeoutMs: options.timeout }),
    ...(!options.cache && { cache: false as const }),
    ...(options.onNoise && { onNoise: options.onNoise }),
    onLog: options.onLog ?? ((entry: LogEntry) => line.write(describeLog(entry, err))),
    answers: answerQuestions({
      asker: connector.label,
      prompter: canAsk
        ? createPrompter(stdin, stderr, { terminal: true, onInterrupt: interruption.interrupt })
        : undefined,
      style: err,
      given: toGiven(options.answer ?? []),
      roots: options.roots === false ? undefined : toRoots(options.root ?? []),
      whileAsking: (ask) => deadlines.whileAsking(ask),
      note: (text) => line.write(`isthmus: ${text}\n`),
    }),
  };
}

function createSession(
  client: Client,
  connector: WatchedConnector,
  options: ClientCommandOptions,
  terminal: Terminal,
  line: ProgressLine,
  deadlines: AnswerDeadlines,
  interrupted: AbortSignal,
): CliSession {
  const limitMs = options.timeout ?? ANSWER_MS;
  const onLog = options.onLog ?? ((entry: LogEntry) => line.write(describeLog(entry, terminal.err)));
  const logLevel = options.logLevel ?? (client.server.capabilities.logging ? 'info' : undefined);
  return {
    client,
    connector,
    interrupted,
    async request(what, make) {
      const over = new AbortController();
      const interrupt = () => over.abort(interrupted.reason);
      if (interrupted.aborted) interrupt();
      interrupted.addEventListener('abort', interrupt, { once: true });
      const deadline = deadlines.start(limitMs, () => over.abort(new Error('it took too long')));
      try {
        return await make({
          signal: over.signal,
          ...(logLevel && { logLevel }),
          onLog,
          onProgress(update) {
            // An explicit --timeout is a limit for the whole request, in spite of progress.
            if (options.timeout === undefined) deadline.restart();
            if (!deadlines.asking) line.update(update);
          },
        });
      } catch (error) {
        if (!over.signal.aborted || interrupted.aborted) throw error;
        throw new IsthmusError(
          'TIMED_OUT',
          `${oneLine(what)} was not answered within ${limitMs} ms by ${connector.label}`,
          {
            sent: 'maybe',
          },
        );
      } finally {
        interrupted.removeEventListener('abort', interrupt);
        deadline.stop();
        line.hide();
      }
    },
  };
}

/** A log message of the server, for stderr. */
function describeLog({ level, logger, data }: LogEntry, style: Style): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const paint = SERIOUS.has(level) ? style.red : level === 'warning' ? style.yellow : style.dim;
  const who = logger === undefined || logger === '' ? '' : `${logger}: `;
  return `${paint(printable(`[${level}] ${who}${text}`).trimEnd())}\n`;
}

const SERIOUS: ReadonlySet<string> = new Set(['error', 'critical', 'alert', 'emergency']);
