import { secretsOf } from '@isthmus/gateway/internal/secrets.js';
import { createRedactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import type { Client } from '@isthmus/sdk/internal/client/client.js';
import { connect } from '@isthmus/sdk/internal/client/connect.js';
import type { Mode } from '@isthmus/sdk/internal/client/options.js';
import type { ServerEntry } from '@isthmus/sdk/internal/config/index.js';
import { revisionLabel } from '@isthmus/sdk/internal/era/revisions.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { type ProbeReport, toReport } from '../../probe/probe-report.js';
import { probeServer } from '../../probe/probe-server.js';
import { type CommandTarget, connectorOf } from '../../target.js';
import { oneLine, printable } from '../../terminal/text.js';
import { watchConnector } from '../../watch-connector.js';
import { checkCommand } from './check-command.js';
import { describeTrouble } from './describe-trouble.js';
import type { Diagnosis, Problem } from './diagnosis.js';
import { interpretStderr, quotedLine } from './interpret-stderr.js';

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
  const { text } = createRedactor(secretsOf(entry));
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
  const target = { ...entry, files: examining.files };
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

type Tried =
  | { readonly kind: 'answered'; readonly report: ProbeReport; readonly stderr: readonly string[] }
  | { readonly kind: 'failed'; readonly error: unknown; readonly stderr: readonly string[] };

/** Starts a server, or connects to it, asks all that it declares, and ends it again. Never rejects. */
async function tryServer(
  target: CommandTarget,
  mode: Mode,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Tried> {
  const connector = watchConnector(connectorOf(target, {}));
  const noise = { count: 0, sample: '' };
  let client: Client | undefined;
  try {
    client = await connect(connector, {
      mode,
      signal,
      info: { name: 'isthmus-doctor', version: VERSION },
      reconnect: false,
      cache: false,
      connectTimeoutMs: timeoutMs,
      timeoutMs,
      onNoise(line) {
        noise.count += 1;
        if (noise.count === 1) noise.sample = oneLine(line.error.message);
      },
    });
    connector.stopWatching();
    const session = {
      client,
      connector,
      request: <T>(_what: string, make: (options: { signal: AbortSignal }) => Promise<T>) => make({ signal }),
    };
    const report = toReport(await probeServer(session, noise, new Map()));
    return { kind: 'answered', report, stderr: connector.stderrTail() };
  } catch (error) {
    return { kind: 'failed', error, stderr: connector.stderrTail() };
  } finally {
    await client?.close();
  }
}
