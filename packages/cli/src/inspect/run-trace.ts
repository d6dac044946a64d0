import { openTrace } from '@isthmus/console/internal/inspect/open-trace.js';
import { TraceError } from '@isthmus/console/internal/trace/read-trace.js';
import { createRedactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import { fileReason } from '@isthmus/sdk/internal/errors.js';
import type { GivenOptions } from '../choose-target.js';
import { EXIT, usageError } from '../cli-error.js';
import { judgeMessage } from '../console/judge-message.js';
import { processTerminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import type { InspectCommandOptions } from './run-inspect.js';
import { showLink } from './show-link.js';
import { untilInterrupted } from './until-interrupted.js';

/** Shows a trace file. There is no server, so options about one are refused. */
export async function runTrace(
  [file, ...rest]: readonly string[],
  options: GivenOptions<InspectCommandOptions>,
): Promise<void> {
  if (rest.length > 0) throw usageError(`Unexpected argument "${rest[0]}": inspect takes only a file`);
  const unusable = (['mode', 'timeout', 'cwd', 'env', 'header', 'auth', 'root', 'record'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (unusable !== undefined)
    throw usageError(
      `--${unusable === 'mode' ? 'era' : unusable} is for a server, and ${file} is a trace file`,
    );
  const terminal = processTerminal();
  const say = (line: string) => terminal.stderr.write(`isthmus: ${oneLine(line)}\n`);
  const console = await openTrace({
    file: file!,
    redactor: createRedactor(),
    judge: judgeMessage,
    port: options.port,
    say,
  }).catch((error: unknown) => {
    if (error instanceof TraceError) throw usageError(oneLine(error.message));
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw usageError(`Cannot read ${oneLine(file!)}: ${oneLine(fileReason(error))}`);
  });
  const interruption = untilInterrupted();
  const shown = await showLink(console.link(), { ...options, what: oneLine(file!) }, terminal);
  const signal = await interruption;
  await Promise.all([shown.forget(), console.close()]);
  process.exitCode = signal === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted;
}
