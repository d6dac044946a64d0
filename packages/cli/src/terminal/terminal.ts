import type { Readable, Writable } from 'node:stream';
import { createStyle, type Style } from './style.js';

/** The streams of a command and what is known about who is at their other end. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Somebody reads stdout with their eyes. */
  readonly readsOutput: boolean;
  readonly readsErrors: boolean;
  /** Somebody can be asked: they type into stdin and read stderr. */
  readonly canAsk: boolean;
  /** Columns of stdout; no limit when it is no terminal. */
  readonly width: number;
  readonly out: Style;
  readonly err: Style;
}

export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const readsOutput = stdout.isTTY === true;
  const readsErrors = stderr.isTTY === true;
  return {
    stdin,
    stdout,
    stderr,
    readsOutput,
    readsErrors,
    canAsk: stdin.isTTY === true && readsErrors,
    width: readsOutput ? stdout.columns || 80 : Number(env['COLUMNS']) || Number.POSITIVE_INFINITY,
    out: createStyle(readsOutput, env),
    err: createStyle(readsErrors, env),
  };
}

/** One line for programs, indented for people. */
export function writeJson(terminal: Terminal, value: unknown): void {
  terminal.stdout.write(`${JSON.stringify(value, null, terminal.readsOutput ? 2 : undefined)}\n`);
}
