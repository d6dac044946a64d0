import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { CliError, EXIT } from './cli-error.js';
import { findPlainCommand, servePlainCommand } from './plain-command.js';
import { processTerminal } from './terminal/terminal.js';

/** The command line. cli-error.ts has the meaning of its exit codes. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    const plain = findPlainCommand(argv.slice(2));
    // The parser takes longer to load than such a command line takes to read.
    if (plain) return await servePlainCommand(plain, tolerateClosedOutput);
    tolerateClosedOutput();
    const { runProgram } = await import('./program.js');
    await runProgram(argv);
  } catch (error) {
    process.exitCode = report(error, commandIn(argv.slice(2)));
  }
}

/** For hints: `list`, or `config import`. */
function commandIn([name, inner]: readonly string[]): string | undefined {
  const isNested = (name === 'config' || name === 'daemon') && inner !== undefined && /^[a-z]+$/.test(inner);
  return isNested ? `${name} ${inner}` : name;
}

function report(error: unknown, command: string | undefined): number {
  if (error instanceof CliError) return reportFailure(error, command);
  if (error instanceof IsthmusError) {
    process.stderr.write(`isthmus: ${error.message}\n`);
    if (error.code === 'UNAUTHORIZED') return EXIT.needsLogin;
    return error.code === 'INVALID_OPTION' ? EXIT.usage : EXIT.failed;
  }
  process.stderr.write(
    `isthmus: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return EXIT.failed;
}

function reportFailure(error: CliError, command: string | undefined): number {
  const { err } = processTerminal();
  const lines = [`${err.red('isthmus:')} ${error.message}`, ...error.evidence.map((line) => `  ${line}`)];
  if (error.hint !== undefined) lines.push(`${err.dim('hint:')} ${error.hint}`);
  if (error.exitCode === EXIT.usage)
    lines.push(err.dim(`(isthmus ${command ?? ''} --help explains the options)`));
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  return error.exitCode;
}

/** The reader of stdout may close it early (`| head`), and so may the reader of stderr. That is not a failure. */
function tolerateClosedOutput(): void {
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? EXIT.ok);
    // A server on stdio has a listener of its own, and ends in order.
    if (process.stdout.listenerCount('error') === 1) throw error;
  });
}
