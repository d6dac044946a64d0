import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { CliError } from '../cli-error.js';
import type { Terminal } from '../terminal/terminal.js';
import { cut, oneLine } from '../terminal/text.js';

/** Whoever runs it, reading stderr. */
export interface Operator {
  say(line: string): void;
  /** What the command writes there, as it comes. */
  passOn(text: string): void;
  /** What went wrong, what becomes of it, and what to do; the same is not said twice in a row. */
  warn(failure: CliError, then?: string): void;
  /** On a terminal, says every second how long it has been waiting. Until the returned function is called. */
  waitFor(what: string): () => void;
}

export function createOperator({ stderr, readsErrors, err }: Terminal): Operator {
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
    // What the command is in the middle of saying is not to be drawn over.
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
