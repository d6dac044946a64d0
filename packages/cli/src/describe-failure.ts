import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { CliError } from './cli-error.js';
import { EXIT } from './exit-codes.js';
import { reachHint } from './reach-hint.js';
import { type CommandTarget, commandLine } from './target.js';
import { oneLine, printable } from './terminal/text.js';

export interface FailureContext {
  readonly target: CommandTarget;
  readonly label: string;
  /** Before or after the era was known. */
  readonly connected: boolean;
  readonly mode: string;
  readonly stderrTail: readonly string[];
}

/** What failed, on what, and what to do next. Pure; whoever calls prints it. */
export function describeFailure(error: unknown, context: FailureContext): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ProtocolError) return refused(error, context);
  if (error instanceof IsthmusError) return failed(error, context);
  return new CliError(EXIT.failed, `Isthmus itself failed: ${messageOf(error)}`, {
    hint: 'This is a bug; with ISTHMUS_DEBUG=1 in the environment the place is shown',
  });
}

function refused(error: ProtocolError, { target, label, connected }: FailureContext): CliError {
  const what = connected ? `${label} refused the request` : `Cannot connect: ${label} refused`;
  return new CliError(
    connected ? EXIT.protocol : EXIT.cannotConnect,
    `${what}: ${oneLine(error.message)} (${error.code})`,
    {
      hint: isBehindABridge(error)
        ? 'It answers, but what stands behind it cannot be reached; look there'
        : refusalHint(error, target),
      evidence: dataOf(error),
    },
  );
}

function refusalHint(error: ProtocolError, target: CommandTarget): string {
  const data = isJsonObject(error.data) ? error.data : {};
  switch (error.code) {
    case ErrorCode.InvalidParams:
    case ErrorCode.LegacyResourceNotFound:
      return `${commandLine('list', target)} shows the tools and their arguments; also list … resources, prompts, templates`;
    case ErrorCode.MissingClientCapability:
      return `It needs ${Object.keys(Object(data['requiredCapabilities'])).join(', ') || 'something'} of the client, and this one offers elicitation and roots only`;
    case ErrorCode.LegacyUrlElicitationRequired:
      return 'Open the URL that it names, then try again';
    case ErrorCode.UnsupportedProtocolVersion:
      return 'Leave --mode out to let the revision be found out';
    default:
      return `${commandLine('probe', target)} shows what it offers`;
  }
}

/** The failure of a bridge on the way to its server. */
function isBehindABridge({ code, data }: ProtocolError): boolean {
  return code === ErrorCode.InternalError && isJsonObject(data) && data['reason'] !== undefined;
}

function dataOf({ data }: ProtocolError): string[] {
  if (data === undefined) return [];
  const text = JSON.stringify(data);
  return [`data: ${text.length > MAX_DATA ? `${text.slice(0, MAX_DATA)}…` : text}`];
}

const MAX_DATA = 2000;

function failed(error: IsthmusError, context: FailureContext): CliError {
  const { connected, stderrTail } = context;
  if (error.code === 'INVALID_OPTION') return new CliError(EXIT.usage, error.message);
  const died =
    error.code === 'CHILD_EXITED' || error.code === 'CANNOT_START' || error.code === 'CONNECTION_CLOSED';
  const late = error.code === 'TIMED_OUT' && !connected;
  // The message of a dead child has the line that says most already.
  const tail = (died && stderrTail.length > 1) || late ? stderrTail : [];
  const message = oneLine(error.message);
  return new CliError(
    connected ? EXIT.protocol : EXIT.cannotConnect,
    connected || message.startsWith('Cannot ') ? message : `${cannotConnect(message, context)}: ${message}`,
    {
      hint: failureHint(error, context),
      evidence: tail.length > 0 ? ['its stderr:', ...tail.map((line) => `| ${printable(line)}`)] : [],
    },
  );
}

function cannotConnect(message: string, { label }: FailureContext): string {
  return message.includes(oneLine(label)) ? 'Cannot connect' : `Cannot connect to ${oneLine(label)}`;
}

function failureHint(error: IsthmusError, { connected, target, mode }: FailureContext): string {
  const onTheWay = reachHint(error);
  if (onTheWay !== undefined) return onTheWay;
  switch (error.code) {
    case 'ADDRESS_UNAVAILABLE':
      return `Is the server running? ${target.kind === 'socket' ? `isthmus demo --listen ${target.address} starts one to try` : ''}`.trim();
    case 'UNAUTHORIZED':
      return 'Say who you are: --header "Authorization: Bearer …"';
    case 'HTTP_STATUS':
      return connected
        ? 'The log of the server may say why'
        : 'Is that the URL of an MCP server? Its path is often /mcp or /sse';
    case 'CANNOT_START':
      return error.message.includes('working directory')
        ? 'Check the folder given with --cwd'
        : 'Check the spelling, or give the full path; --cwd sets the folder that it runs in';
    case 'CHILD_EXITED':
      return connected
        ? 'The server did not survive the request; its own log may say why'
        : 'Run the command by itself to see what it needs; it gets a clean environment, pass variables with --env NAME';
    case 'CONNECTION_CLOSED':
      return connected || target.kind === 'url'
        ? 'The server hung up; its own log may say why'
        : 'Does an MCP server listen there, one message per line? Its own log may say why it hung up';
    case 'TIMED_OUT':
      return connected
        ? '--timeout MS gives it more time'
        : `Is it an MCP server${target.kind === 'command' ? ' that speaks over stdin and stdout' : ''}? --timeout MS gives it more time`;
    case 'NO_COMMON_REVISION':
      return mode === 'auto'
        ? 'It may need a newer isthmus, or be no MCP server at all'
        : 'Leave --mode out to let the era and the revision be found out';
    case 'INVALID_RESULT':
      return `The server breaks a promise of its own; ${commandLine('probe', target)} may say more`;
    case 'RESULT_TOO_LARGE':
      return 'Ask for less at a time';
    default:
      return `${commandLine('probe', target)} shows what it offers`;
  }
}
