import type { Readable, Writable } from 'node:stream';

/** The streams of a command, and whether they are terminals. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** stdout is a terminal. */
  readonly readsOutput: boolean;
  /** stderr is a terminal. */
  readonly readsErrors: boolean;
  /** stdin and stderr are terminals, so questions are possible. */
  readonly canAsk: boolean;
  /** Columns of stdout; infinite when it is not a terminal. */
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

/** Indented on a terminal, else on one line. */
/** For a program that a host should start. `tryIt`: what a person at a terminal can do instead. */
export function noteOnTerminal(what: string, tryIt: string, { stdin, stderr } = process): void {
  if (!stdin.isTTY) return;
  stderr.write(
    `isthmus: ${what} waits for the messages of an MCP host, but stdin is a terminal; Ctrl-D ends it\nhint: ${tryIt}\n`,
  );
}

export function writeJson(terminal: Terminal, value: unknown): void {
  terminal.stdout.write(`${JSON.stringify(value, null, terminal.readsOutput ? 2 : undefined)}\n`);
}

/** Adds colours for one stream, or none. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function createStyle(isTTY: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  const paint =
    (open: number, close: number) =>
    (text: string): string =>
      text === '' ? text : `\u001b[${open}m${text}\u001b[${close}m`;
  const plain = (text: string) => text;
  const maybe = wantsColour(isTTY, env) ? paint : () => plain;
  return {
    bold: maybe(1, 22),
    dim: maybe(2, 22),
    red: maybe(31, 39),
    green: maybe(32, 39),
    yellow: maybe(33, 39),
    cyan: maybe(36, 39),
  };
}

/** https://no-color.org wins over https://force-color.org, which wins over the kind of the stream. */
function wantsColour(isTTY: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTTY && env['TERM'] !== 'dumb';
}
