import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { reachHint } from '../../reach-hint.js';
import { describeStartFailure, type StartContext } from '../../serve/describe-serving.js';
import type { Problem, ProblemCode } from './diagnosis.js';

/** Why a server that was tried cannot be used, and what to do about it in its file. Pure. */
export function describeTrouble(error: unknown, context: StartContext): Problem {
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
      return /working directory/.test(error.message) ? 'folder-missing' : 'command-not-found';
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

/** In the words of a file: there are no options here. */
function adviceFor(code: ProblemCode, error: unknown, { target, mode }: StartContext): string | undefined {
  switch (code) {
    case 'exits':
      return 'Run the command by itself to see what it needs; it gets a clean environment, pass variables with env or inheritEnv';
    case 'silent':
      return target.kind === 'command'
        ? 'Is it an MCP server that speaks over stdin and stdout? Some need an argument for that (stdio)'
        : 'Is an MCP server there, and is it well? A proxy or a firewall may swallow the answer';
    case 'no-common-era':
      return mode === 'auto' ? undefined : 'Leave mode out: the era is found out';
    case 'unauthorized':
      return statusOf(error) === 403
        ? 'Who asks is known and may not: check the rights of the token in headers'
        : `Say who asks: "headers": { "Authorization": "Bearer \${TOKEN}" }, with a token that has not expired`;
    case 'unreachable':
      return 'Is the server running, and is the host right? curl -v shows how far one comes';
    case 'wrong-url':
      return 'Is that the URL of an MCP server? Its path is often /mcp or /sse';
    case 'http-status':
      return 'The server, or a proxy before it, is not well; its log may say why';
    default:
      return undefined;
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof IsthmusError ? error.status : undefined;
}
