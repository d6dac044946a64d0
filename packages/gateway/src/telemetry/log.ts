import { type DestinationStream, type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { CallOutcome, CallRecord } from './call-record.js';
import { EIGHT_BITS, oneLine } from './one-line.js';
import { createRedactor, type Redactor } from './redactor.js';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** `pretty`: one line a person can read; `json`: one line a program can read. */
  readonly format: 'pretty' | 'json';
  /** Receives whole lines. Default: stderr, written at once, so that the last lines before an exit are not lost. */
  readonly destination?: LogDestination;
  /** Values that must not appear in the log: those of environment variables and headers. */
  readonly secrets?: Iterable<string>;
  /** A shared redactor, which may learn secrets later. Default: a new one. */
  readonly redactor?: Redactor;
  /** Fields of every line: the name of this process among others. */
  readonly fields?: () => Readonly<Record<string, unknown>>;
  /** For `NO_COLOR`, `FORCE_COLOR` and `TERM`. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface LogDestination extends DestinationStream {
  readonly isTTY?: boolean;
}

/** A log without secrets: every line is redacted before it is written. */
export function createLog(options: LogOptions): Logger {
  const { level, format, env = process.env } = options;
  const redactor = options.redactor ?? createRedactor();
  redactor.add(options.secrets ?? []);
  const given = options.destination;
  const isTTY = given ? given.isTTY === true : process.stderr.isTTY === true;
  const lines = given ?? toStderr();
  const destination = format === 'json' ? lines : readable(lines, wantsColour(isTTY, env));
  return pino(
    {
      level,
      // `pid` is that of a server, never that of this process.
      base: null,
      ...(options.fields && { mixin: options.fields as () => object }),
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Redacts the whole line, so that no field is missed.
      hooks: { streamWrite: (line) => redactor.json(line) },
    },
    destination,
  );
}

function toStderr(): DestinationStream {
  const stderr = pino.destination({ dest: 2, sync: true });
  // The reader of stderr is gone. The gateway goes on.
  stderr.on('error', () => {});
  return stderr;
}

/** `[12:34:56.789] WARN: weather[4711]: it ended {"generation":2}` */
function readable(lines: DestinationStream, colorize: boolean): DestinationStream {
  const prettify = prettyFactory({
    colorize,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'server,pid,err',
    messageFormat: (log, key) => [subjectOf(log), oneLine(log[key]), failureOf(log)].join(''),
  });
  // Our own colours use 7 bits, so these characters come from others.
  return { write: (line) => lines.write(prettify(line).replace(EIGHT_BITS, ' ')) };
}

function subjectOf({ server, pid }: Record<string, unknown>): string {
  if (typeof server !== 'string' || server === '') return '';
  return pid === undefined ? `${oneLine(server)}: ` : `${oneLine(server)}[${oneLine(pid)}]: `;
}

/** Without the stack: only the JSON format has it. */
function failureOf({ err }: Record<string, unknown>): string {
  if (typeof err !== 'object' || err === null || !('message' in err)) return '';
  return ` (${oneLine(err.message)})`;
}

/** https://no-color.org has priority over https://force-color.org, and that over the kind of the stream. */
function wantsColour(isTTY: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTTY && env['TERM'] !== 'dumb';
}

/** Logs a finished call: what it was, who made it, how it ended. */
export function logCall(log: Logger, record: CallRecord): void {
  const level = record.code === INTERNAL_ERROR ? 'warn' : LEVELS[record.outcome];
  if (!log.isLevelEnabled(level)) return;
  const { server, side, method, tool, prompt, uri, era, revision, outcome, errorType, code } = record;
  const durationMs = Math.round(record.durationMs * 1000) / 1000;
  const fields = {
    ...{
      server,
      request: record.request,
      method,
      tool,
      prompt,
      uri,
      caller: record.principal,
      client: record.client,
      handedOnBy: record.handedOnBy,
    },
    ...{ side, era, revision, durationMs, outcome, errorType, code },
  };
  const target = tool ?? prompt ?? uri;
  const what = target === undefined ? method : `${method} ${target}`;
  log[level](
    fields,
    `${what} ${ENDINGS[outcome]}${record.message === undefined ? '' : `: ${record.message}`}`,
  );
}

/** The operator must hear of a server that cannot be reached (`warn`), and need not hear of errors of clients (`info`). */
const INTERNAL_ERROR = -32603;

const LEVELS: Readonly<Record<CallOutcome, Exclude<LogLevel, 'silent'>>> = {
  ok: 'debug',
  input_required: 'debug',
  tool_error: 'debug',
  error: 'info',
  cancelled: 'debug',
};

const ENDINGS: Readonly<Record<CallOutcome, string>> = {
  ok: 'was answered',
  input_required: 'was answered with questions',
  tool_error: 'was answered: the tool failed',
  error: 'failed',
  cancelled: 'was cancelled',
};
