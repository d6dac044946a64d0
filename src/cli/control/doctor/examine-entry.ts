import type { ServerEntry } from '../../../config/index.js';
import { revisionLabel } from '../../../era/revisions.js';
import { secretsOfEntry } from '../../../gateway/secrets.js';
import { createRedactor } from '../../../gateway/telemetry/redactor.js';
import { childEnvironment } from '../../../process/environment.js';
import { toTarget } from '../../config-target.js';
import type { ProbeReport } from '../../probe/probe-report.js';
import { printable } from '../../terminal/text.js';
import { checkCommand } from './check-command.js';
import { describeTrouble } from './describe-trouble.js';
import type { Diagnosis, Problem } from './diagnosis.js';
import { interpretStderr, quotedLine } from './interpret-stderr.js';
import { tryServer } from './try-server.js';

export interface Examining {
  readonly files: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Finds out whether a server of a file can be used. What it says holds none of the secrets of the file. */
export async function examineEntry(
  entry: ServerEntry,
  where: string,
  examining: Examining,
): Promise<Diagnosis> {
  const diagnosis = await examine(entry, where, examining);
  const { text } = createRedactor(secretsOfEntry(entry));
  const { problems, stderr, odd, because, evidence } = diagnosis;
  return {
    ...diagnosis,
    // The advice is in our own words, and shows how a header is written.
    problems: problems.map((each) => ({ ...each, message: text(each.message) })),
    odd: odd.map((each) => ({ ...each, message: text(each.message) })),
    stderr: stderr.map(text),
    ...(because !== undefined && { because: text(because) }),
    ...(evidence && { evidence: evidence.map(text) }),
  };
}

/** What can be seen first, and if that is well, by trying it. */
async function examine(entry: ServerEntry, where: string, examining: Examining): Promise<Diagnosis> {
  const about = { name: entry.name, where, odd: [], stderr: [] };
  if (entry.disabled) return { ...about, health: 'off', how: 'not started', problems: [] };
  const visible = entry.kind === 'command' ? checkCommand(entry) : [];
  if (visible.length > 0) return { ...about, health: 'ill', how: 'not started', problems: visible };
  const target = toTarget(entry, examining.files);
  const mode = entry.mode ?? 'auto';
  const tried = await tryServer(target, mode, examining);
  if (tried.kind === 'failed') {
    const problem = describeTrouble(tried.error, { target, name: entry.name, mode });
    const told = interpretStderr([...quotedLine(problem.message), ...tried.stderr], variablesOf(entry));
    return {
      ...about,
      health: 'ill',
      how: 'tried',
      // What the server itself says is nearer to the cause.
      problems: told ? [told, { ...problem, advice: '' }] : [problem],
      stderr: tried.stderr.map(printable),
    };
  }
  return { ...about, how: 'tried', ...ofReport(tried.report) };
}

function ofReport(report: ProbeReport): Pick<Diagnosis, 'health' | 'problems' | 'odd'> & Partial<Diagnosis> {
  const { verdict, server, era, revision, counts, odd } = report;
  const failing = odd.filter(({ code }) => code === 'list-fails');
  const problems = failing.map(
    ({ message }): Problem => ({ code: 'list-fails', message, advice: 'Its own log may say why' }),
  );
  return {
    health: problems.length > 0 ? 'ill' : 'well',
    era: `${era} (${revisionLabel(revision)})`,
    because: verdict.why,
    evidence: verdict.evidence,
    ...(server && { server: `${String(server.name)} ${String(server.version)}` }),
    offers: describeCounts(counts),
    problems,
    odd: odd.filter(({ code }) => code !== 'list-fails'),
  };
}

function describeCounts(counts: ProbeReport['counts']): string {
  const parts = Object.entries(counts).flatMap(([kind, count]) =>
    count === null ? [] : [`${count} ${count === 1 ? kind.replace(/s$/, '') : kind}`],
  );
  return parts.join(', ') || 'nothing';
}

function variablesOf(entry: ServerEntry) {
  if (entry.kind !== 'command') return undefined;
  return {
    given: new Set(Object.keys(childEnvironment(entry))),
    ours: new Set(Object.keys(process.env)),
  };
}
