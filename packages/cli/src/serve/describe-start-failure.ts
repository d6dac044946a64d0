import type { Mode } from '@isthmus/sdk/internal/client/options.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { CliError } from '../cli-error.js';
import { describeFailure } from '../describe-failure.js';
import { EXIT } from '../exit-codes.js';
import type { CommandTarget } from '../target.js';
import { oneLine } from '../terminal/text.js';

export interface StartContext {
  readonly target: CommandTarget;
  /** What the server is called in lines about it. */
  readonly name: string;
  readonly mode: Mode;
}

/** Why the server behind could not be spoken to, in the words of `serve`: other commands have other options. */
export function describeStartFailure(error: unknown, { target, name, mode }: StartContext): CliError {
  const context = { target, label: name, connected: false, mode, stderrTail: [] };
  const { message, hint, evidence } = describeFailure(error, context);
  const known = error instanceof IsthmusError ? hintFor(error, target, mode) : undefined;
  const said = known ?? hint;
  return new CliError(EXIT.cannotConnect, withoutAdvice(oneLine(message)), {
    ...(said !== undefined && { hint: said }),
    evidence,
  });
}

/** No later attempt will do better. */
export function isHopeless(error: unknown): boolean {
  return error instanceof IsthmusError && HOPELESS.has(error.code);
}

/** The process started and ended before it could be spoken to: what it needs may yet come. */
export function hasEnded(error: unknown): boolean {
  return (
    error instanceof IsthmusError && (error.code === 'CHILD_EXITED' || error.code === 'CONNECTION_CLOSED')
  );
}

const HOPELESS: ReadonlySet<string> = new Set([
  'CANNOT_START',
  'CRASH_LOOP',
  'INVALID_OPTION',
  'NO_COMMON_REVISION',
]);

function hintFor({ code }: IsthmusError, target: CommandTarget, mode: Mode): string | undefined {
  switch (code) {
    case 'NO_COMMON_REVISION':
      return mode === 'auto' ? undefined : '--upstream-protocol auto finds out what it speaks';
    case 'TIMED_OUT':
      return target.kind === 'command'
        ? 'Is it an MCP server that speaks over stdin and stdout? Run the command by itself to see what it does'
        : 'Is an MCP server there, and is it well?';
    case 'CHILD_EXITED':
    case 'CRASH_LOOP':
      return 'Run the command by itself to see what it needs; it gets a clean environment, pass variables with --env NAME';
    default:
      return undefined;
  }
}

/** What a program would do about it; the hint has what a person does. */
function withoutAdvice(message: string): string {
  const advice = message.lastIndexOf('; connect with mode ');
  return advice >= 0 && message.endsWith(' to use it') ? message.slice(0, advice) : message;
}
