import { secretsOf } from '@isthmus/gateway/internal/secrets.js';
import { createRedactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import type { Client } from '@isthmus/sdk/internal/client/client.js';
import { connect } from '@isthmus/sdk/internal/client/connect.js';
import type { Mode } from '@isthmus/sdk/internal/client/options.js';
import type { ServerEntry } from '@isthmus/sdk/internal/config/index.js';
import { revisionLabel } from '@isthmus/sdk/internal/era/revisions.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { isFolderFault } from '@isthmus/sdk/internal/process/describe-exit.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { reachHint } from '../../describe-failure.js';
import { withAuth } from '../../login/auth-options.js';
import { type ProbeReport, probeServer, toReport } from '../../probe/probe-server.js';
import { describeStartFailure, type StartContext } from '../../serve/describe-serving.js';
import { connectorOf } from '../../session/target-connector.js';
import { watchConnector } from '../../session/watch-connector.js';
import type { CommandTarget } from '../../target.js';
import { oneLine, printable } from '../../terminal/text.js';
import { checkCommand } from './check-command.js';
import type { Diagnosis, Problem, ProblemCode } from './diagnosis.js';
import { interpretStderr, quotedLine } from './interpret-stderr.js';

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
    const trouble = describeTrouble(tried.error, { target, name: entry.name, mode });
    const problem = await withLoginAdvice(trouble, tried.error, target);
    const told = interpretStderr([...quotedLine(problem.message), ...tried.stderr], variablesOf(entry));
    return {
      ...about,
      health: 'ill',
      how: 'tried',
      // The server's own output is closer to the cause.
      problems: told ? [told, { ...problem, advice: '' }] : [problem],
      stderr: tried.stderr.map(printable),
    };
  }
  return { ...about, how: 'tried', ...ofReport(tried.report) };
}

/** After a 401: what a login would need. */
async function withLoginAdvice(problem: Problem, error: unknown, target: CommandTarget): Promise<Problem> {
  if (problem.code !== 'unauthorized' || statusOf(error) !== 401 || target.kind !== 'url') return problem;
  const { loginFactLines } = await import('../../login/login-facts-lines.js');
  const facts = await loginFactLines(target.url);
  return facts.length === 0 ? problem : { ...problem, advice: `${problem.advice}. ${facts.join('; ')}` };
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
    const report = toReport(await probeServer(session, noise, new Map()));
    return { kind: 'answered', report, stderr: connector.stderrTail() };
  } catch (error) {
    return { kind: 'failed', error, stderr: connector.stderrTail() };
  } finally {
    await client?.close();
  }
}

/** Why a server that was tried cannot be used, and what to change in its file. Pure. */
function describeTrouble(error: unknown, context: StartContext): Problem {
  const { message, hint } = describeStartFailure(error, context);
  const code = codeOf(error, context.target.kind);
  return {
    code,
    message,
    advice:
      reachHint(error) ??
      adviceFor(code, error, context) ??
      hint ??
      'Its stderr, or its own log, may say more',
  };
}

function codeOf(error: unknown, kind: StartContext['target']['kind']): ProblemCode {
  if (!(error instanceof IsthmusError)) return 'other';
  switch (error.code) {
    case 'CANNOT_START':
      return isFolderFault(error) ? 'folder-missing' : 'command-not-found';
    case 'CHILD_EXITED':
    case 'CRASH_LOOP':
      return 'exits';
    case 'CONNECTION_CLOSED':
      return kind === 'command' ? 'exits' : 'unreachable';
    case 'TIMED_OUT':
      return 'silent';
    case 'NO_COMMON_REVISION':
      return 'no-common-era';
    case 'UNAUTHORIZED':
      return 'unauthorized';
    case 'ADDRESS_UNAVAILABLE':
      return 'unreachable';
    case 'HTTP_STATUS':
      return error.status === 404 || error.status === 405 ? 'wrong-url' : 'http-status';
    case 'INVALID_RESULT':
      return kind === 'url' ? 'wrong-url' : 'other';
    default:
      return 'other';
  }
}

/** Advice for the settings of a file. The hints of `serve` name command line options. */
function adviceFor(code: ProblemCode, error: unknown, { target, mode }: StartContext): string | undefined {
  switch (code) {
    case 'exits':
      return 'Run the command by itself to see what it needs. Servers get a clean environment: pass variables with env or inheritEnv';
    case 'silent':
      return target.kind === 'command'
        ? 'Check that it is an MCP server on stdin and stdout. Some servers need an argument for that (stdio)'
        : 'Check that an MCP server runs there. A proxy or a firewall may drop the answer';
    case 'no-common-era':
      return mode === 'auto' ? undefined : 'Remove mode: the era is detected';
    case 'unauthorized':
      return statusOf(error) === 403
        ? 'The token in headers is valid but lacks a permission: check its rights'
        : `Log in with isthmus login, or give credentials: "headers": { "Authorization": "Bearer \${TOKEN}" }, with a token that has not expired`;
    case 'unreachable':
      return 'Check that the server is running and that the host is right. curl -v shows where the connection fails';
    case 'wrong-url':
      return 'Check the URL. The path of an MCP server is often /mcp or /sse';
    case 'http-status':
      return 'The server, or a proxy in front of it, fails; its log may say why';
    default:
      return undefined;
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof IsthmusError ? error.status : undefined;
}
