import { secretsOf } from '@isthmus/gateway/internal/secrets.js';
import { createRedactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import type { Client } from '@isthmus/sdk/internal/client/client.js';
import { connect } from '@isthmus/sdk/internal/client/connect.js';
import type { Mode } from '@isthmus/sdk/internal/client/options.js';
import type { ServerEntry } from '@isthmus/sdk/internal/config/index.js';
import { SHARED_EXTENSIONS } from '@isthmus/sdk/internal/era/extensions.js';
import { revisionLabel } from '@isthmus/sdk/internal/era/revisions.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { withAuth } from '../../login/auth-options.js';
import type { AppTool } from '../../probe/app-tools.js';
import { type ProbeReport, probeServer, toReport } from '../../probe/probe-server.js';
import { connectorOf } from '../../session/target-connector.js';
import { watchConnector } from '../../session/watch-connector.js';
import type { CommandTarget } from '../../target.js';
import { oneLine, printable } from '../../terminal/text.js';
import { checkCommand } from './check-command.js';
import type { Diagnosis, Problem } from './diagnosis.js';
import { hiddenAppTools } from './examine-apps.js';
import { explainTrouble } from './explain-trouble.js';

export interface Examining {
  readonly files: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Finds out whether a server of a file can be used. The diagnosis contains no secrets of the file. */
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
    // Not the advice: it has no values of the file, and shows how to write a header.
    problems: problems.map((each) => ({ ...each, message: text(each.message) })),
    odd: odd.map((each) => ({ ...each, message: text(each.message) })),
    stderr: stderr.map(text),
    ...(because !== undefined && { because: text(because) }),
    ...(evidence && { evidence: evidence.map(text) }),
  };
}

/** Checks without starting the server first. When these find no problem, the server is tried. */
async function examine(entry: ServerEntry, where: string, examining: Examining): Promise<Diagnosis> {
  const about = { name: entry.name, where, odd: [], stderr: [] };
  if (entry.disabled) return { ...about, health: 'off', how: 'not started', problems: [] };
  const visible = entry.kind === 'command' ? checkCommand(entry) : [];
  if (visible.length > 0) return { ...about, health: 'ill', how: 'not started', problems: visible };
  const target = await withAuth({ ...entry, files: examining.files }, {});
  const mode = entry.mode ?? 'auto';
  const tried = await tryServer(target, mode, examining);
  if (tried.kind === 'failed') {
    return {
      ...about,
      health: 'ill',
      how: 'tried',
      problems: await explainTrouble(tried.error, tried.stderr, { target, name: entry.name, mode }),
      stderr: tried.stderr.map(printable),
    };
  }
  const diagnosis: Diagnosis = { ...about, how: 'tried', ...ofReport(tried.report) };
  const views = [...new Set(tried.apps.flatMap(({ view }) => view ?? []))];
  return {
    ...diagnosis,
    odd: [...diagnosis.odd, ...hiddenAppTools(tried.apps, entry.tools)],
    ...(views.length > 0 && { views }),
  };
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

type Tried =
  | {
      readonly kind: 'answered';
      readonly report: ProbeReport;
      readonly apps: readonly AppTool[];
      readonly stderr: readonly string[];
    }
  | { readonly kind: 'failed'; readonly error: unknown; readonly stderr: readonly string[] };

/** Starts a server or connects to it, lists what it declares, and ends it. Never rejects. */
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
      // Servers with user interfaces offer them to clients that can show them.
      extensions: SHARED_EXTENSIONS,
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
      interrupted: signal,
      request: <T>(_what: string, make: (options: { signal: AbortSignal }) => Promise<T>) => make({ signal }),
    };
    const facts = await probeServer(session, noise, new Map());
    const { tools } = facts.lists;
    const apps = tools && 'count' in tools ? tools.apps : [];
    return { kind: 'answered', report: toReport(facts), apps, stderr: connector.stderrTail() };
  } catch (error) {
    return { kind: 'failed', error, stderr: connector.stderrTail() };
  } finally {
    await client?.close();
  }
}
