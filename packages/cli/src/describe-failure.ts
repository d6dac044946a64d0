import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { scopeArguments } from '@isthmus/sdk/internal/host/spec-connector.js';
import { isFolderFault } from '@isthmus/sdk/internal/process/describe-exit.js';
import { type ReachObstacle, reachObstacleOf } from '@isthmus/sdk/internal/transport/http-client/failures.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { CliError, EXIT } from './cli-error.js';
import { type CommandTarget, commandLine } from './target.js';
import { oneLine, printable } from './terminal/text.js';

export interface FailureContext {
  readonly target: CommandTarget;
  readonly label: string;
  /** Whether the era is known. */
  readonly connected: boolean;
  readonly mode: string;
  readonly stderrTail: readonly string[];
  /** What the command asked for, for the hint. Default `tools`. */
  readonly list?: 'tools' | 'resources' | 'prompts' | undefined;
}

/** What failed, on what, and what to do next. */
export function describeFailure(error: unknown, context: FailureContext): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ProtocolError) return refused(error, context);
  if (error instanceof IsthmusError) return failed(error, context);
  return new CliError(EXIT.failed, `Internal error: ${messageOf(error)}`, {
    hint: 'This is a bug in isthmus; ISTHMUS_DEBUG=1 in the environment shows the stack',
  });
}

function refused(error: ProtocolError, { target, label, connected, list }: FailureContext): CliError {
  const what = connected ? `${label} refused the request` : `Cannot connect: ${label} refused`;
  return new CliError(
    connected ? EXIT.protocol : EXIT.cannotConnect,
    `${what}: ${oneLine(error.message)} (${error.code})`,
    {
      hint: isFromBridge(error)
        ? isSwitchedOff(error)
          ? 'isthmus start NAME starts it again, on the machine of the gateway; "disabled" in the file of the gateway keeps it off'
          : 'It answers, but it cannot reach the server behind it; look at the log of that server'
        : refusalHint(error, target, list),
      evidence: dataOf(error),
    },
  );
}

function refusalHint(error: ProtocolError, target: CommandTarget, list: FailureContext['list']): string {
  const data = isJsonObject(error.data) ? error.data : {};
  switch (error.code) {
    case ErrorCode.InvalidParams:
    case ErrorCode.LegacyResourceNotFound:
      return listHint(target, list);
    case ErrorCode.MissingClientCapability:
      return `The server needs the client capability ${Object.keys(Object(data['requiredCapabilities'])).join(', ') || '(not named)'}; this client has elicitation and roots`;
    case ErrorCode.LegacyUrlElicitationRequired:
      return 'Open the URL of the error, then try again';
    case ErrorCode.UnsupportedProtocolVersion:
      return 'Leave --era out to detect the revision';
    default:
      return `${commandLine('probe', target)} shows its capabilities`;
  }
}

function listHint(target: CommandTarget, list: FailureContext['list'] = 'tools'): string {
  if (list === 'resources')
    return `${commandLine('list', target, 'resources')} shows the resources; list … templates shows the templates of their URIs`;
  if (list === 'prompts')
    return `${commandLine('list', target, 'prompts')} shows the prompts and their arguments`;
  return `${commandLine('list', target)} shows the tools and their arguments; also list … resources, prompts, templates`;
}

/** A bridge answers with a `reason` when it cannot reach its server. */
function isFromBridge({ code, data }: ProtocolError): boolean {
  return code === ErrorCode.InternalError && isJsonObject(data) && data['reason'] !== undefined;
}

function isSwitchedOff({ data }: ProtocolError): boolean {
  return isJsonObject(data) && data['reason'] === 'DISABLED';
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
  // The message of a dead child already has its most useful line.
  const tail = (died && stderrTail.length > 1) || late ? stderrTail : [];
  const message = oneLine(error.message);
  const needsLogin = error.code === 'UNAUTHORIZED' && (error.status === 401 || error.scopes !== undefined);
  return new CliError(
    needsLogin ? EXIT.needsLogin : connected ? EXIT.protocol : EXIT.cannotConnect,
    connected || message.startsWith('Cannot ') ? message : `${cannotConnect(message, context)}: ${message}`,
    {
      hint: failureHint(error, context),
      evidence:
        tail.length > 0 ? ['stderr of the server:', ...tail.map((line) => `| ${printable(line)}`)] : [],
    },
  );
}

function cannotConnect(message: string, { label }: FailureContext): string {
  return message.includes(oneLine(label)) ? 'Cannot connect' : `Cannot connect to ${oneLine(label)}`;
}

function failureHint(error: IsthmusError, { connected, target, mode }: FailureContext): string {
  const hint = reachHint(error);
  if (hint !== undefined) return hint;
  switch (error.code) {
    case 'ADDRESS_UNAVAILABLE':
      if (error.message.includes('(ENOTFOUND)'))
        return 'The name of the host does not exist: check its spelling, and the network';
      return `Is the server running? ${target.kind === 'socket' ? `isthmus demo --listen ${target.address} starts one to try` : ''}`.trim();
    case 'UNAUTHORIZED':
      return unauthorizedHint(error, target);
    case 'HTTP_STATUS':
      return connected || (error.status ?? 0) >= 500
        ? 'The log of the server may have the reason'
        : urlHint(target);
    case 'CANNOT_START':
      return isFolderFault(error)
        ? 'Check the folder of --cwd'
        : 'Check the spelling, or give the full path; --cwd sets the folder that the command runs in';
    case 'CHILD_EXITED':
      return connected
        ? 'The request ended the server process; the log of the server may have the reason'
        : 'Run the command directly to see what it needs; isthmus gives it a clean environment, pass variables with --env NAME';
    case 'CONNECTION_CLOSED':
      if (connected) return 'The server closed the connection; its log may have the reason';
      return target.kind === 'url'
        ? `${error.cause !== undefined && target.url.startsWith('http:') ? 'Does the server need https:// instead of http://? ' : ''}${urlHint(target)}`
        : 'Is it an MCP server with one message per line? Its log may have the reason';
    case 'TIMED_OUT':
      return connected
        ? '--timeout MS gives it more time'
        : `Is it an MCP server${target.kind === 'command' ? ' that speaks over stdin and stdout' : ''}? --timeout MS gives it more time`;
    case 'NO_COMMON_REVISION':
      if (mode !== 'auto') return 'Leave --era out to detect the era and the revision';
      return target.kind === 'url'
        ? `${urlHint(target)}. If it is one, it may need a newer isthmus`
        : 'The server may need a newer isthmus, or may not be an MCP server';
    case 'INVALID_RESULT':
      return `The server breaks the protocol or its own schema; ${commandLine('probe', target)} may show more`;
    case 'RESULT_TOO_LARGE':
      return 'Request less data at a time';
    default:
      return `${commandLine('probe', target)} shows its capabilities`;
  }
}

/** For an answer that is not one of MCP. */
function urlHint(target: CommandTarget): string {
  if (target.kind === 'url' && new URL(target.url).pathname === '/') {
    const { origin } = new URL(target.url);
    return `Is the path missing? It is often /mcp or /sse: ${commandLine('probe', { ...target, url: `${origin}/mcp` })}`;
  }
  return 'Is that the URL of an MCP server? Its path is often /mcp or /sse';
}

/** What to do about a server that wants other credentials. */
export function unauthorizedHint({ status, scopes }: IsthmusError, target: CommandTarget): string {
  if (target.kind !== 'url' || (status !== 401 && !scopes))
    return 'This server needs other credentials: --header "Authorization: Bearer …"';
  if (target.auth?.mode === 'client-credentials')
    return 'Check --client-id, the secret and --issuer; --scope names what to ask for';
  const login = `${commandLine('login', target)}${scopeArguments(scopes ?? [])}`;
  if (target.headers['authorization'] !== undefined)
    return 'The server does not accept the Authorization that was sent: is the key or token right, still valid, and for this server?';
  if (scopes) return `${login} asks for more`;
  return `--header "Authorization: Bearer …" sends a key or a token; ${login} logs in. ${commandLine('probe', target)} shows what the login needs`;
}

/** A hint for failures of proxies, certificates and host names; undefined for other failures. */
export function reachHint(error: unknown): string | undefined {
  if (!(error instanceof IsthmusError)) return undefined;
  const { message, status } = error;
  const obstacle = reachObstacleOf(error);
  if (obstacle) return obstacleHint(obstacle);
  // A server states the reason of a 403 only in its text.
  const host = status === 403 ? refusedHost(message) : undefined;
  if (host === undefined) return undefined;
  const name = host === '' ? 'HOST' : host;
  return `The server does not accept this host name. If it is isthmus serve, start it with --allow-host ${name}; if it has a proxy in front, let the proxy send the Host that the server expects`;
}

export function obstacleHint(obstacle: ReachObstacle): string {
  if (obstacle.kind === 'proxy')
    return `Is the proxy running? Without ${obstacle.variable}, or with the host in NO_PROXY, the connection is direct`;
  if (obstacle.kind === 'certificate')
    return 'The server answers, but its certificate is not trusted: set NODE_EXTRA_CA_CERTS=FILE.pem to trust its authority, or use the host name of the certificate';
  return 'Write http:// instead of https://, or another port';
}

/** The host in the errors of isthmus and of the official SDKs (`Invalid Host: x`, `Invalid Host header: x`); may be empty. */
function refusedHost(message: string): string | undefined {
  const text = message.slice(0, MAX_MESSAGE);
  const host = /The host (\S+) is not served here/.exec(text)?.[1];
  if (host !== undefined) return host.replace(/:\d+$/, '');
  return /invalid host/i.test(text)
    ? (/invalid host[^:]{0,20}: ?([\w.-]+)/i.exec(text)?.[1] ?? '')
    : undefined;
}

const MAX_MESSAGE = 2000;
