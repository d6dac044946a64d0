import type { Redactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { watchDescriptors } from '@isthmus/sdk/internal/process/process-facts.js';
import { CliError } from '../cli-error.js';
import type { Terminal } from '../terminal/terminal.js';
import { cut, oneLine } from '../terminal/text.js';

/** Writes to stderr, for the person who runs the gateway. */
export interface Operator {
  /** `fields` are for a log in JSON. */
  say(line: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Passes on what the command writes to stderr, as it comes. */
  passOn(text: string): void;
  /** Writes what failed, what happens next, and what to do. The same warning is not repeated. */
  warn(failure: CliError, then?: string): void;
  /** On a terminal, shows the waiting time every second, until the returned function is called. */
  waitFor(what: string): () => void;
}

export function createOperator(
  terminal: Terminal,
  { logFormat, logLevel }: { readonly logFormat?: string; readonly logLevel?: string } = {},
): Operator {
  if (logFormat === 'json') return jsonOperator(terminal, /^(warn|error|silent)$/.test(logLevel ?? ''));
  const { stderr, readsErrors, err } = terminal;
  let drawn = false;
  let isLineOpen = false;
  let lastWarning: string | undefined;
  let lastHint: string | undefined;
  const hide = () => {
    if (drawn) stderr.write('\r\u001b[K');
    drawn = false;
  };
  const write = (text: string) => {
    hide();
    stderr.write(text);
    isLineOpen = !text.endsWith('\n');
  };
  const say = (line: string) => write(`${isLineOpen ? '\n' : ''}${line}\n`);
  const draw = (text: string, end: string) => {
    hide();
    // An unfinished line of the command must not be overwritten.
    if (isLineOpen) return;
    const { columns } = stderr as { columns?: number };
    stderr.write(err.dim(`${cut(text, (columns || 80) - 1 - end.length)}${end}`));
    drawn = true;
  };
  return {
    say,
    passOn(text) {
      if (text !== '') write(text);
    },
    warn({ message, evidence, hint }, then) {
      const warning = `${message}${then === undefined ? '' : `; ${then}`}`;
      if (warning === lastWarning) return;
      lastWarning = warning;
      say(`${err.red('isthmus:')} ${warning}`);
      for (const line of evidence) say(`  ${line}`);
      if (hint !== undefined && hint !== lastHint) say(`${err.dim('hint:')} ${hint}`);
      lastHint = hint;
    },
    waitFor(what) {
      if (!readsErrors) return () => {};
      const began = systemClock.now();
      let callOff = () => {};
      const tick = () => {
        callOff = systemClock.after(1000, tick, { background: true });
        const seconds = Math.floor((systemClock.now() - began) / 1000);
        if (seconds > 0) draw(`starting ${oneLine(what)}`, ` (${seconds} s)`);
      };
      tick();
      return () => {
        callOff();
        hide();
      };
    },
  };
}

/** Writes lines as the log in JSON does. */
function jsonOperator({ stderr }: Terminal, isTerse: boolean): Operator {
  const write = (level: string, msg: string, fields: object = {}) =>
    stderr.write(`${JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg })}\n`);
  return {
    say(line, fields) {
      const [, warning, text = ''] = /^(?:isthmus: )?(warning: )?(.*)$/s.exec(line) ?? [];
      if (warning !== undefined) write('warn', text, fields);
      else if (!isTerse) write('info', text, fields);
    },
    passOn(text) {
      for (const line of text.split('\n')) if (line.trim() !== '') write('info', line, { event: 'stderr' });
    },
    warn({ message, evidence, hint }, then) {
      const more = { ...(evidence.length > 0 && { evidence }), ...(hint !== undefined && { hint }) };
      write('error', `${message}${then === undefined ? '' : `; ${then}`}`, more);
    },
    waitFor: () => () => {},
  };
}

/**
 * The same without secrets. The output of a command is passed on line by line, because a secret that is cut in two would not
 * be recognised. A line that does not end is passed on after a moment.
 */
export function discreetOperator(
  inner: Operator,
  { text: clean }: Pick<Redactor, 'text'>,
  clock: Clock = systemClock,
): Operator {
  let open = '';
  let callOff = () => {};
  const flush = () => {
    callOff();
    const rest = open;
    open = '';
    inner.passOn(clean(rest));
  };
  return {
    say(line, fields) {
      flush();
      inner.say(clean(line), fields);
    },
    passOn(text) {
      callOff();
      open += text;
      const end = open.lastIndexOf('\n') + 1;
      const lines = open.slice(0, end);
      open = open.slice(end);
      inner.passOn(clean(lines));
      if (open.length > LONGEST) flush();
      else if (open !== '') callOff = clock.after(PAUSE_MS, flush, { background: true });
    },
    warn(failure, then) {
      flush();
      inner.warn(discreetFailure(failure, clean), then === undefined ? undefined : clean(then));
    },
    waitFor: (what) => inner.waitFor(clean(what)),
  };
}

export function discreetFailure(failure: CliError, clean: (text: string) => string): CliError {
  const { exitCode, message, evidence, hint } = failure;
  const more = { evidence: evidence.map(clean), ...(hint !== undefined && { hint }) };
  return new CliError(exitCode, clean(message), more);
}

const PAUSE_MS = 200;
const LONGEST = 64 * 1024;

/** Warns the operator before the process runs out of file descriptors. */
export function tellDescriptors(say: (line: string) => void): void {
  watchDescriptors(({ open, limit }, isScarce) =>
    say(
      isScarce
        ? `${open} of ${limit} file descriptors are in use: new connections are closed, and servers cannot be started, when none is left. Raise the limit (ulimit -n, LimitNOFILE= in systemd), or lower --max-sessions`
        : `${open} of ${limit} file descriptors are in use: there is room again`,
    ),
  );
}
