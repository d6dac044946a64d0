import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import type { LogEntry } from '@isthmus/sdk/internal/wire/model.js';
import type { Logger } from 'pino';
import type { LogLevel } from './log.js';

/** Logs an event of a process: a level, a sentence, and server, pid and generation where they apply. */
export function logHostEvent(log: Logger, event: HostEvent): void {
  const { server } = event;
  if (event.kind === 'stderr' || event.kind === 'exit') logStderr(log, event);
  if (event.kind === 'stderr') return;
  const told = describe(event);
  if (!log.isLevelEnabled(told.level)) return;
  // Some events have no pid, and `undefined` is left out of a line.
  const { pid, generation } = event as { readonly pid?: number; readonly generation?: number };
  log[told.level](
    { server: server || undefined, pid, generation, event: event.kind, ...told.fields },
    told.text,
  );
}

interface Told {
  readonly level: Exclude<LogLevel, 'silent'>;
  readonly text: string;
  readonly fields?: object;
}

function describe(event: Exclude<HostEvent, { kind: 'stderr' }>): Told {
  switch (event.kind) {
    case 'start':
      return { level: 'debug', text: `is being started: ${WHY[event.why]}`, fields: { why: event.why } };
    case 'ready':
      return {
        level: 'info',
        text: `is ready after ${Math.round(event.ms)} ms, and speaks the ${event.era} era`,
        fields: { era: event.era, ms: event.ms },
      };
    case 'receipt': {
      const { list, listError, pid, generation } = event.receipt;
      const fields = { pid, generation };
      if (listError !== undefined) {
        return { level: 'warn', text: `did not answer its first list: ${listError}`, fields };
      }
      const text = list ? `answered ${list.method} with ${list.items} items` : 'has nothing to list';
      return { level: 'debug', text, fields };
    }
    case 'exit': {
      const { expected, phase, reason } = event;
      const text = expected ? 'exited (requested)' : reason;
      return { level: expected ? 'info' : 'error', text, fields: { phase } };
    }
    case 'restart': {
      const { attempt, delayMs } = event;
      const text = `will be started again in ${Math.round(delayMs)} ms (attempt ${attempt})`;
      return { level: 'warn', text, fields: { attempt, delayMs } };
    }
    case 'crash-loop': {
      const { attempts, reason } = event;
      const text = `ended ${attempts + 1} times in a row and is not restarted automatically: ${reason}`;
      return { level: 'error', text, fields: { attempts } };
    }
    case 'drain': {
      const { why, inFlight } = event;
      return { level: 'info', text: `draining: ${why}`, fields: { inFlight } };
    }
    case 'queue': {
      const { queued, refused } = event;
      const text = refused ? `refused a call: ${queued} are waiting already` : `${queued} calls are waiting`;
      return { level: refused ? 'warn' : 'debug', text, fields: { queued } };
    }
    case 'parked': {
      const { parked, generation } = event;
      const text = `${parked} calls wait for an answer to a question, which is the limit (maxParked): the oldest call of the client that has most of them is ended for each new one`;
      return { level: 'warn', text, fields: { parked, generation } };
    }
    case 'kill':
      return { level: 'warn', text: `had to be killed: ${event.why}` };
    case 'changed':
      return { level: 'info', text: `changed its ${event.what.join(', ')}` };
    case 'undeclared': {
      const { conversation, capabilities, restarts } = event;
      const then = restarts ? 'it is restarted' : 'it may offer fewer tools until it is restarted';
      return {
        level: 'info',
        text: `was started without ${capabilities.join(', ')}, which ${conversation} can answer; ${then}`,
      };
    }
    case 'log':
      return ofTheServer(event.entry, event.conversation);
    case 'reaped':
      return {
        level: 'warn',
        text: `process ${event.pid} was left over from an earlier run and ${event.gone ? 'was ended' : 'could not be ended'}`,
      };
  }
}

function ofTheServer(entry: LogEntry, conversation: string | undefined): Told {
  const { level, logger, data } = entry;
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return { level: LEVELS[level] ?? 'info', text: `says: ${text}`, fields: { logger, conversation } };
}

/** Line by line, and only on level debug: most servers write all that they do to stderr. */
function logStderr(log: Logger, event: HostEvent & { kind: 'stderr' | 'exit' }): void {
  const { server, pid, generation } = event;
  const lines = linesOf(log);
  const source = `${server} ${generation} ${pid}`;
  const complete = event.kind === 'stderr' ? lines.add(source, event.text) : lines.end(source);
  for (const line of complete) log.debug({ server, pid, generation, event: 'stderr' }, line);
}

function linesOf(log: Logger): StderrLines {
  const known = unfinished.get(log) ?? new StderrLines();
  unfinished.set(log, known);
  return known;
}

const unfinished = new WeakMap<Logger, StderrLines>();

const WHY: Readonly<Record<(HostEvent & { kind: 'start' })['why'], string>> = {
  use: 'a client needs it',
  eager: 'it is kept ready (eager)',
  restart: 'a restart was requested',
  crash: 'the last process ended',
  age: 'the last process reached its maximum age',
};

const LEVELS: Readonly<Record<LogEntry['level'], Told['level']>> = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
};

/**
 * Puts lines together from the pieces that a process writes. A secret that is cut in two would not be recognised in
 * either piece.
 */
export class StderrLines {
  readonly #open = new Map<string, string>();

  /** Returns the lines that this piece completes. */
  add(source: string, text: string): string[] {
    const pieces = `${this.#open.get(source) ?? ''}${text}`.split(/\r\n|\n|\r(?!$)/);
    let rest = pieces.pop() ?? '';
    if (rest.length > LONGEST) {
      pieces.push(rest);
      rest = '';
    }
    this.#open.delete(source);
    if (rest !== '') this.#open.set(source, rest);
    if (this.#open.size > MOST) this.#open.delete(this.#open.keys().next().value!);
    return pieces.flatMap(tidy);
  }

  /** The process writes no more. Returns its unfinished line. */
  end(source: string): string[] {
    const rest = this.#open.get(source) ?? '';
    this.#open.delete(source);
    return tidy(rest);
  }
}

function tidy(line: string): string[] {
  const trimmed = line.trimEnd();
  if (trimmed === '') return [];
  return [trimmed.length > LONGEST ? `${cut(trimmed)}…` : trimmed];
}

/** Cuts between words if possible, because half a secret is not recognised. */
function cut(line: string): string {
  const text = line.slice(0, LONGEST);
  const at = text.search(/\s\S*$/);
  return at > LONGEST / 2 ? text.slice(0, at) : text;
}

const LONGEST = 8 * 1024;
/** How many processes may have an unfinished line at the same time. */
const MOST = 1000;
