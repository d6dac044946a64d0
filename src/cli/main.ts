import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { IsthmusError } from '../errors.js';
import { demoCommand } from './commands/demo.js';

/** The command line. Exit codes: 0 done, 1 failed, 2 used wrongly. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('isthmus')
    .description('Any MCP client with any MCP server, in either era of the protocol.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .showHelpAfterError('(isthmus --help explains the commands)')
    .exitOverride();
  program.addCommand(demoCommand());
  try {
    await program.parseAsync(argv as string[]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  // Commander has already printed help, the version or what was wrong.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof IsthmusError) {
    process.stderr.write(`isthmus: ${error.message}\n`);
    return error.code === 'INVALID_OPTION' ? 2 : 1;
  }
  process.stderr.write(
    `isthmus: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return 1;
}

function packageVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
