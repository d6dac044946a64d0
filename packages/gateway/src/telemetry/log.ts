import { stripVTControlCharacters } from 'node:util';
import { type DestinationStream, type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { CallOutcome, CallRecord } from './call-record.js';
import { createRedactor, type Redactor } from './redactor.js';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** `pretty`: one line a person can read; `json`: one line a program can read. */
  readonly format: 'pretty' | 'json';
  /** Takes whole lines. Default: stderr, at once, so that the last words of a process are not lost. */
  readonly destination?: LogDestination;
  /** Values that must not be seen: those of environment variables and headers. */
  readonly secrets?: Iterable<string>;
  /** One that others use, too, and that learns secrets later. Default: one of its own. */
  readonly redactor?: Redactor;
  /** Default: that of the process; for `NO_COLOR`, `FORCE_COLOR` and `TERM`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface LogDestination extends DestinationStream {
  readonly isTTY?: boolean;
}

/** A log in which no secret is seen, whoever writes what to it. */
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
      // `pid` is that of a server here, never our own.
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The whole line, so that there is no way around it.
      hooks: { streamWrite: (line) => redactor.json(line) },
    },
    destination,
  );
}

function toStderr(): DestinationStream {
  const stderr = pino.destination({ dest: 2, sync: true });
  // Nobody reads it any more; that is no reason to end.
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
  return { write: (line) => lines.write(prettify(line).replace(EIGHT_BITS, ' ')) };
}

function subjectOf({ server, pid }: Record<string, unknown>): string {
  if (typeof server !== 'string' || server === '') return '';
  return pid === undefined ? `${oneLine(server)}: ` : `${oneLine(server)}[${oneLine(pid)}]: `;
}

/** Stacks are for programs that collect them. */
function failureOf({ err }: Record<string, unknown>): string {
  if (typeof err !== 'object' || err === null || !('message' in err)) return '';
  return ` (${oneLine(err.message)})`;
}

/** What others wrote must not move the cursor, nor look like a line of ours. */
function oneLine(value: unknown): string {
  return stripVTControlCharacters(String(value ?? ''))
    .replace(CONTROLS, ' ')
    .trimEnd();
}

/** https://no-color.org wins over https://force-color.org, which wins over what the stream is. */
function wantsColour(isTTY: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTTY && env['TERM'] !== 'dumb';
}

/** Our own colours are of seven bits; these come from others, in fields that JSON leaves as they are. */
const EIGHT_BITS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** Also those that turn the direction of text around, so that a line would say something else (S11). */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** Writes that a call is over: what it was, who made it, how it ended. */
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

/** A client's mistakes are no trouble of whoever runs the gateway; a server that cannot be reached is. */
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
  cancelled: 'was called off',
};
