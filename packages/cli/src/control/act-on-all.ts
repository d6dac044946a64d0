import type { MemberAnswer } from '@isthmus/gateway/internal/cluster/cluster-control.js';
import { CliError, EXIT } from '../cli-error.js';
import { type Terminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

/** Prints what each process of a cluster has said to a request. Fails when one of them could not do it. */
export function actOnAll(
  answers: readonly MemberAnswer[],
  { json }: { readonly json?: boolean | undefined },
  terminal: Terminal,
): number {
  if (json) writeJson(terminal, answers);
  const failed = answers.filter((each) => problemOf(each) !== undefined);
  const lines = answers.map(
    (each) => `${oneLine(each.replica)}: ${oneLine(problemOf(each) ?? doneOf(each))}`,
  );
  if (failed.length > 0) {
    const what = `${failed.length} of ${answers.length} processes could not do it`;
    throw new CliError(EXIT.failed, what, { evidence: json ? [] : lines });
  }
  if (!json) terminal.stdout.write(`${lines.join('\n')}\n`);
  return EXIT.ok;
}

function doneOf({ answer }: MemberAnswer): string {
  const { later = [] } = (answer ?? {}) as { readonly later?: readonly string[] };
  return later.length > 0 ? `done; when it is started again: ${later.join(', ')}` : 'done';
}

/** A configuration that was rejected is an answer, too. */
function problemOf({ problem, answer }: MemberAnswer): string | undefined {
  const rejected = (answer as { readonly problem?: unknown } | undefined)?.problem;
  return problem ?? (typeof rejected === 'string' ? `configuration rejected: ${rejected}` : undefined);
}
