import type { ConsoleRecords } from '@isthmus/console/internal/inspect/console-records.js';
import { openInspect } from '@isthmus/console/internal/inspect/open-inspect.js';
import { recordTrace } from '@isthmus/console/internal/trace/trace-recorder.js';
import type { GivenOptions } from '../choose-target.js';
import { EXIT, usageError, writeHint, writeReason } from '../cli-error.js';
import type { CommonOptions } from '../common-options.js';
import { judgeMessage } from '../console/judge-message.js';
import { toRoots } from '../session/answer-questions.js';
import { processTerminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { explainConnection, warningsOf } from './explain-connection.js';
import { findInspectTarget } from './inspect-target.js';
import { showLink } from './show-link.js';
import { untilInterrupted } from './until-interrupted.js';

export interface InspectCommandOptions extends CommonOptions {
  readonly port?: number;
  readonly open: boolean;
  readonly root?: readonly string[];
  readonly roots: boolean;
  readonly record?: string;
}

export async function runInspect(
  args: readonly string[],
  afterDashes: readonly string[] | undefined,
  given: GivenOptions<InspectCommandOptions>,
): Promise<void> {
  const [first] = args;
  if (first?.endsWith('.mcptrace') && !given.config && !afterDashes) {
    const { runTrace } = await import('./run-trace.js');
    return runTrace(args, given);
  }
  const inspected = await findInspectTarget(args, afterDashes, given);
  const { label, kind, names, options, redactor } = inspected;
  const { mode, timeout, roots } = options;
  const terminal = processTerminal();
  const say = (line: string) => terminal.stderr.write(`isthmus: ${line}\n`);
  const record = (records: ConsoleRecords, path: string) =>
    recordTrace(records, { path, target: { label, kind }, redactor, onStopped: say }).catch(
      async (error: unknown) => {
        await console.close();
        const why = oneLine(writeReason(error));
        throw usageError(`Cannot write --record ${oneLine(path)}: ${why}`, writeHint(error));
      },
    );
  const console = await openInspect({
    target: { label, kind, ...(names && { names }) },
    port: options.port,
    timeoutMs: timeout,
    connectTimeoutMs: timeout,
    redactor,
    judge: judgeMessage,
    settings: {
      mode,
      asks: { forms: true, urls: true, sampling: true, roots },
      roots: roots ? toRoots(options.root ?? []) : [],
    },
    connector: inspected.connector,
    explain: async (error, stderr, name) =>
      explainConnection(error, stderr, await inspected.find(name), mode, redactor),
    warnings: warningsOf,
    async snippet(facts, name) {
      const { snippetFor } = await import('./snippets.js');
      return snippetFor(facts, await inspected.find(name));
    },
    async check(name) {
      const { CHECK_SUITES, consoleCheck } = await import('./console-check.js');
      const run = consoleCheck(() => inspected.find(name));
      const { kind: found } = await inspected.find(name);
      return { suites: CHECK_SUITES, startsCopies: found === 'command', run };
    },
    say,
  });
  const recording = options.record === undefined ? undefined : await record(console.records, options.record);
  const interruption = untilInterrupted();
  const connecting = console.connect();
  const shown = await showLink(console.link(), { ...options, what: label }, terminal);
  const signal = await interruption;
  await Promise.all([shown.forget(), console.close()]);
  await connecting;
  await recording?.close();
  process.exitCode = signal === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted;
}
