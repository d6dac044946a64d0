import { fileReason } from '@isthmus/sdk/internal/errors.js';

/** A failure as a person at a terminal reads it: one line, evidence where there is some, and what to do next. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;
  readonly hint: string | undefined;
  /** Lines to print below the message, unchanged. */
  readonly evidence: readonly string[];

  constructor(exitCode: number, message: string, more: { hint?: string; evidence?: readonly string[] } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.hint = more.hint;
    this.evidence = more.evidence ?? [];
  }
}

export function usageError(message: string, hint?: string, evidence?: readonly string[]): CliError {
  return new CliError(EXIT.usage, message, {
    ...(hint !== undefined && { hint }),
    ...(evidence && { evidence }),
  });
}

/** The meaning of each exit code. Scripts rely on it: docs/cli.md has the same table. */
export const EXIT = {
  ok: 0,
  /**
   * The tool ran and failed (`isError`); every request of `bench` failed; `check` found a broken rule. Also the code
   * of `serve` and `demo` when they cannot listen, and of `status` and `doctor` when there is a problem.
   */
  failed: 1,
  usage: 2,
  /** To the server; for `status` and the like: to the gateway. */
  cannotConnect: 3,
  /** The server refused the request, gave an invalid answer, did not answer in time, or went away. */
  protocol: 4,
  /** The server wants a login, and there is none that it accepts. */
  needsLogin: 5,
  /** Ctrl-C, as shells have it: 128 and the number of the signal. */
  interrupted: 130,
  terminated: 143,
} as const;

/** The exit codes of a command that connects to a server. `failed`: when it exits with 1. */
export function exitHelp(failed?: string): string {
  return [
    '\nExit codes:',
    '  0  success',
    ...(failed === undefined ? [] : [`  1  ${failed}`]),
    '  2  the command line or the configuration file is invalid',
    '  3  cannot connect to the server',
    '  4  the server refused the request, gave an invalid answer, did not answer in time, or went away',
    '  5  the server needs a login: isthmus login URL',
    '  130  interrupted by Ctrl-C (143: by SIGTERM)',
  ].join('\n');
}

/** Why a file could not be written, in words where the error of the system is a common one. */
export function writeReason(error: unknown): string {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === 'EEXIST') return 'it exists already';
  return code === 'ENOENT' || code === 'ENOTDIR' ? 'there is no such folder' : fileReason(error);
}

/** What to do about a file that could not be written, by the error of the system. */
export function writeHint(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'The disk is full, or your quota is used up: free some space, or choose another folder';
    case 'EEXIST':
      return 'Choose another name: a file that exists is not replaced';
    case 'EROFS':
      return 'That file system is read-only: choose another folder';
    case 'EACCES':
    case 'EPERM':
      return 'You have no permission to write there: choose another folder, or change the permissions';
    default:
      return 'Choose another folder';
  }
}
