import type { CallOptions } from '@isthmus/sdk/internal/client/call-options.js';
import type { Client } from '@isthmus/sdk/internal/client/client.js';
import { connect } from '@isthmus/sdk/internal/client/connect.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import type { InvalidMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { LogEntry, LoggingLevel } from '@isthmus/sdk/internal/wire/model.js';
import { answerQuestions, toGiven, toRoots } from './answer-questions.js';
import { catchSignals } from './catch-signals.js';
import { CliError } from './cli-error.js';
import type { CommonOptions } from './common-options.js';
import { type CommandDeadline, createDeadline } from './deadline.js';
import { describeFailure } from './describe-failure.js';
import { type CommandTarget, connectorOf } from './target.js';
import { describeLog } from './terminal/describe-log.js';
import { createProgressLine, type ProgressLine } from './terminal/progress-line.js';
import { createPrompter } from './terminal/prompter.js';
import type { Terminal } from './terminal/terminal.js';
import { oneLine } from './terminal/text.js';
import { type WatchedConnector, watchConnector } from './watch-connector.js';

export interface ClientCommandOptions extends CommonOptions {
  readonly progress?: boolean;
  readonly answer?: readonly string[];
  readonly root?: readonly string[];
  /** Whether the server may hear of folders at all. Default true. */
  readonly roots?: boolean;
  readonly logLevel?: LoggingLevel;
  /** Whether what was remembered about the server counts. */
  readonly cache: boolean;
  readonly onNoise?: (line: InvalidMessage) => void;
}

/** A connected client, for the time of one command. */
export interface CliSession {
  readonly client: Client;
  readonly connector: WatchedConnector;
  /** Makes one request with a time limit, progress and logs on stderr, and Ctrl-C as its cancellation. */
  request<T>(what: string, make: (options: CallOptions) => Promise<T>): Promise<T>;
}

/** Connects, does the work, closes; failures come out as `CliError`. Returns the exit code that `work` returns. */
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
  const clock = new AskingClock(line);
  let client: Client | undefined;
  try {
    client = await connect(
      connector,
      connectOptions(connector, options, terminal, line, clock, interruption),
    );
    connector.stopWatching();
    const session = createSession(client, connector, options, terminal, line, clock, interruption.signal);
    return await work(session);
  } catch (error) {
    if (interruption.signal.aborted) {
      throw new CliError(
        interruption.code(),
        client ? 'Interrupted; the request was cancelled' : 'Interrupted',
      );
    }
    if (process.env['ISTHMUS_DEBUG']) console.error(error);
    throw describeFailure(error, {
      target,
      label: connector.label,
      connected: client !== undefined,
      mode: options.mode,
      stderrTail: connector.stderrTail(),
    });
  } finally {
    line.hide();
    await client?.close();
    interruption.release();
  }
}

/** Longer than anybody waits: the command line has time limits of its own, which stop while the user is asked. */
const DAY_MS = 24 * 60 * 60 * 1000;
const ANSWER_MS = 60_000;

function connectOptions(
  connector: WatchedConnector,
  options: ClientCommandOptions,
  terminal: Terminal,
  line: ProgressLine,
  clock: AskingClock,
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
    onLog: (entry: LogEntry) => line.write(describeLog(entry, err)),
    answers: answerQuestions({
      asker: connector.label,
      prompter: canAsk
        ? createPrompter(stdin, stderr, { terminal: true, onInterrupt: interruption.interrupt })
        : undefined,
      style: err,
      given: toGiven(options.answer ?? []),
      roots: options.roots === false ? undefined : toRoots(options.root ?? []),
      whileAsking: (ask) => clock.whileAsking(ask),
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
  clock: AskingClock,
  interrupted: AbortSignal,
): CliSession {
  const limitMs = options.timeout ?? ANSWER_MS;
  const onLog = (entry: LogEntry) => line.write(describeLog(entry, terminal.err));
  const logLevel = options.logLevel ?? (client.server.capabilities.logging ? 'info' : undefined);
  return {
    client,
    connector,
    async request(what, make) {
      const over = new AbortController();
      const interrupt = () => over.abort(interrupted.reason);
      if (interrupted.aborted) interrupt();
      interrupted.addEventListener('abort', interrupt, { once: true });
      const deadline = clock.start(limitMs, () => over.abort(new Error('it took too long')));
      try {
        return await make({
          signal: over.signal,
          ...(logLevel && { logLevel }),
          onLog,
          onProgress(update) {
            // A limit that was asked for is a limit, whatever the server reports.
            if (options.timeout === undefined) deadline.restart();
            if (!clock.asking) line.update(update);
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

/** The time limits of requests, all of which stop while a question is on the screen. */
class AskingClock {
  asking = false;
  readonly #line: ProgressLine;
  readonly #running = new Set<CommandDeadline>();

  constructor(line: ProgressLine) {
    this.#line = line;
  }

  start(ms: number, onLate: () => void): CommandDeadline {
    const deadline = createDeadline(ms, onLate);
    this.#running.add(deadline);
    return {
      ...deadline,
      stop: () => {
        this.#running.delete(deadline);
        deadline.stop();
      },
    };
  }

  async whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    this.#line.hide();
    this.asking = true;
    const held = [...this.#running];
    for (const deadline of held) deadline.hold();
    try {
      return await ask();
    } finally {
      this.asking = false;
      for (const deadline of held) deadline.release();
    }
  }
}
