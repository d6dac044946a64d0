import { stripVTControlCharacters } from 'node:util';
import { IsthmusError, messageOf } from '../errors.js';
import type { ChildExit } from './child.js';

/** One sentence: which program ended, how, after how long, and the most informative line of its stderr. */
export function describeExit(name: string, exit: ChildExit, tail = ''): string {
  const line = informativeLine(tail);
  return `${name} ${whatHappened(exit)}${line === undefined ? '' : `; last stderr: ${JSON.stringify(line)}`}`;
}

function whatHappened({ code, signal, error, ranMs }: ChildExit): string {
  if (error instanceof IsthmusError) return error.message;
  if (error) return `could not be started: ${whyNot(error)}`;
  const after = `after ${duration(ranMs)}`;
  if (signal !== null) return `was ended by ${signal} ${after}`;
  return code === null ? `stopped ${after}` : `stopped with code ${code} ${after}`;
}

function whyNot(error: NodeJS.ErrnoException): string {
  const { code, syscall, path } = error;
  const subject = syscall === 'chdir' ? 'working directory' : 'command';
  const what = path === undefined ? '' : `: ${path}`;
  if (code === 'ENOENT') return `${subject} not found${what} (ENOENT)`;
  if (code === 'EACCES') return `no permission for the ${subject}${what} (EACCES)`;
  const remedy = REMEDIES.get(code ?? '');
  return remedy === undefined ? messageOf(error) : `${remedy} (${code})`;
}

/** Whether a process could not be started because of its working directory, not of its command. */
export function isFolderFault({ code, cause }: IsthmusError): boolean {
  return code === 'CANNOT_START' && (cause as NodeJS.ErrnoException | undefined)?.syscall === 'chdir';
}

/** Failures that are not caused by the command: what ran out, and what to do. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['EAGAIN', 'no more processes are allowed; end some of this user, or raise the limit (ulimit -u)'],
  ['EMFILE', 'too many files are open in this process; raise its limit (ulimit -n)'],
  ['ENFILE', 'too many files are open on this machine; end some programs, or raise the limit of the system'],
  ['ENOMEM', 'there is not enough memory; end some programs'],
  ['E2BIG', 'its arguments and environment are too long; pass large values in a file'],
]);

function duration(ms: number): string {
  if (ms < 10_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 600) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  return minutes < 600 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 60)} h`;
}

/**
 * The last line, without what Node prints below the message of an uncaught exception: a stack, the properties of the
 * error and its own version. The message is the last line that is not indented.
 */
function informativeLine(tail: string): string | undefined {
  const lines = stripVTControlCharacters(tail)
    .replace(CONTROLS, '')
    .split(/\r\n|\n|\r/)
    .filter((line) => line.trim() !== '');
  const line = lines.findLast((each) => !AFTER_MESSAGE.test(each)) ?? lines.at(-1);
  if (line === undefined) return undefined;
  const text = line.trim();
  return text.length > MAX_LINE ? `${[...text].slice(0, MAX_LINE).join('')}…` : text;
}

const MAX_LINE = 300;
const AFTER_MESSAGE = /^(\s|Node\.js v\d|[}\])]+;?$)/;
/** Control characters that break no line. */
const CONTROLS = /[^\P{Cc}\n\r\t]/gu;
