import type { ConnectionProblem, Warning } from '@isthmus/console';
import type { ConnectedFacts } from '@isthmus/console/internal/inspect/inspect-options.js';
import type { Redactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { checkCommand } from '../control/doctor/check-command.js';
import { explainTrouble } from '../control/doctor/explain-trouble.js';
import { findOddities } from '../probe/oddities.js';
import type { CommandTarget } from '../target.js';

/** Why a server does not connect, as `isthmus doctor` says it. Secrets of the definition are removed. */
export async function explainConnection(
  error: unknown,
  stderr: readonly string[],
  target: CommandTarget,
  mode: string,
  { text }: Redactor,
): Promise<ConnectionProblem> {
  const visible = target.kind === 'command' ? checkCommand(target) : [];
  const likely =
    visible.length > 0 ? visible : await explainTrouble(error, stderr, { target, name: target.name, mode });
  const evidence = error instanceof IsthmusError ? (error.evidence ?? []) : [];
  return {
    message: text(messageOf(error)),
    likely: likely.map(({ code, message, advice }) => ({ code, message: text(message), advice })),
    evidence: evidence.map(text),
    stderr: stderr.map(text),
  };
}

/** What is odd about a server that works, with the codes of `isthmus probe`. */
export function warningsOf(facts: ConnectedFacts): Warning[] {
  const { label, verdict, server, opened, seen, noise } = facts;
  return findOddities({
    ...{ target: label, era: verdict.era, revision: verdict.revision, server, verdict, opened, seen, noise },
    dropped: new Map(),
    lists: { tools: undefined, resources: undefined, templates: undefined, prompts: undefined },
    ms: verdict.ms,
  });
}
