import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { isFolderFault } from '@isthmus/sdk/internal/process/describe-exit.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';
import { reachHint } from '../../describe-failure.js';
import { describeStartFailure, type StartContext } from '../../serve/describe-serving.js';
import { type CommandTarget, commandLine } from '../../target.js';
import type { Problem, ProblemCode } from './diagnosis.js';
import { interpretStderr, quotedLine } from './interpret-stderr.js';

/** Why a server that was tried cannot be used, and what to do. What the server itself says comes first. */
export async function explainTrouble(
  error: unknown,
  stderr: readonly string[],
  context: StartContext,
): Promise<Problem[]> {
  const { target } = context;
  const problem = await withLoginAdvice(describeTrouble(error, context), target);
  const told = interpretStderr([...quotedLine(problem.message), ...stderr], variablesOf(target));
  // The server's own output is closer to the cause.
  return told ? [target.files ? told : forCommandLine(told), { ...problem, advice: '' }] : [problem];
}

/** A server without a file gets its variables by options. */
function forCommandLine(problem: Problem): Problem {
  const name = /the variable (\w+)/.exec(problem.message)?.[1];
  if (problem.code !== 'variable-missing' || name === undefined) return problem;
  const given = process.env[name] === undefined ? `${name}=…` : name;
  return { ...problem, advice: `Servers get a clean environment: add --env ${given}` };
}

/** After a 401: what a login would need. */
async function withLoginAdvice(problem: Problem, target: CommandTarget): Promise<Problem> {
  if (problem.code !== 'needs-login' || target.kind !== 'url') return problem;
  const { loginFactLines } = await import('../../login/login-facts-lines.js');
  const facts = await loginFactLines(target.url);
  return facts.length === 0 ? problem : { ...problem, advice: `${problem.advice}. ${facts.join('; ')}` };
}

function variablesOf(target: CommandTarget) {
  if (target.kind !== 'command') return undefined;
  return {
    given: new Set(Object.keys(childEnvironment(target))),
    ours: new Set(Object.keys(process.env)),
  };
}

/** Why a server that was tried cannot be used, and what to change in its file. Pure. */
function describeTrouble(error: unknown, context: StartContext): Problem {
  const { message, hint } = describeStartFailure(error, context);
  const code = codeOf(error, context.target);
  return {
    code,
    message,
    advice:
      reachHint(error) ??
      (context.target.files ? adviceFor(code, error, context) : undefined) ??
      hint ??
      'Its stderr, or its own log, may say more',
  };
}

function codeOf(error: unknown, { kind, ...target }: StartContext['target']): ProblemCode {
  const hasLogin = 'auth' in target && target.auth !== undefined;
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
      return error.status === 401 && hasLogin ? 'needs-login' : 'unauthorized';
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
    case 'needs-login':
      return `${commandLine('login', target)}, or give credentials: "headers": { "Authorization": "Bearer \${TOKEN}" }`;
    case 'unauthorized':
      return statusOf(error) === 403
        ? 'The token in headers is valid but lacks a permission: check its rights'
        : 'The credentials in headers are refused: check that the token is right and has not expired';
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
