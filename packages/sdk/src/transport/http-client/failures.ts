import { STATUS_CODES } from 'node:http';
import { IsthmusError, type LocalErrorCode, messageOf, type Sent } from '../../errors.js';

/** The error of a request without an answer: the reason, and whether the request may have arrived. */
export function networkFailure(error: unknown, label: string): IsthmusError {
  if (error instanceof IsthmusError) return error;
  const cause = rootOf(error);
  const { code = '', syscall } = cause as NodeJS.ErrnoException;
  if (code === 'UND_ERR_INVALID_ARG') {
    return new IsthmusError('INVALID_OPTION', `The request to ${label} is invalid: ${messageOf(cause)}`, {
      cause: error,
      sent: 'no',
    });
  }
  if (NEVER_CONNECTED.test(code) || syscall === 'connect' || syscall === 'getaddrinfo') {
    const why = reasonFor(code, cause);
    return new IsthmusError('ADDRESS_UNAVAILABLE', `Cannot connect to ${label}: ${why}`, {
      cause: error,
      sent: 'no',
    });
  }
  return lost(`The connection to ${label} was lost: ${messageOf(cause)}`, error);
}

/** The error when the proxy could not be reached or refused the tunnel; undefined for failures behind the proxy. */
export function proxyFailure(error: unknown, target: string, proxy: ProxyNames): IsthmusError | undefined {
  const cause = rootOf(error);
  const { code = '', syscall } = cause as NodeJS.ErrnoException;
  const refusesTunnel = code === 'UND_ERR_ABORTED' && messageOf(cause).startsWith('Proxy response');
  const isBadAddress = code === 'UND_ERR_INVALID_ARG' || code === 'ERR_INVALID_URL';
  const isUnreachable = UNREACHABLE.test(code) || syscall === 'connect' || syscall === 'getaddrinfo';
  if (!refusesTunnel && !isUnreachable && !isBadAddress) return undefined;
  const why = code === 'ECONNREFUSED' ? 'the proxy refused the connection' : messageOf(cause);
  const message = `Cannot connect to ${target} through the proxy ${proxy.label}: ${why}`;
  const inProxy = new ProxyError(messageOf(cause), proxy.variable, error);
  return new IsthmusError('ADDRESS_UNAVAILABLE', message, { cause: inProxy, sent: 'no' });
}

interface ProxyNames {
  /** Its address and its variable, for messages. */
  readonly label: string;
  /** The environment variable that names it. */
  readonly variable: string;
}

/** The cause of an error that a proxy is to blame for. */
class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly variable: string;

  constructor(message: string, variable: string, cause: unknown) {
    super(message, { cause });
    this.variable = variable;
  }
}

/** Why a URL cannot be reached, where a user can change something other than the URL. */
export type ReachObstacle =
  | { readonly kind: 'proxy'; readonly variable: string }
  | { readonly kind: 'certificate' }
  | { readonly kind: 'no-tls' };

export function reachObstacleOf({ code, cause }: IsthmusError): ReachObstacle | undefined {
  if (code !== 'ADDRESS_UNAVAILABLE') return undefined;
  for (let each = cause; each instanceof Error; each = each.cause) {
    if (each instanceof ProxyError) return { kind: 'proxy', variable: each.variable };
  }
  return tlsObstacleOf(cause);
}

/** What is wrong with the TLS of a server, by the error of `fetch` or of the socket. */
export function tlsObstacleOf(error: unknown): ReachObstacle | undefined {
  const root = rootOf(error);
  const { code = '' } = Object(root) as NodeJS.ErrnoException;
  if (isNotTls(code, root)) return { kind: 'no-tls' };
  return UNTRUSTED.test(code) ? { kind: 'certificate' } : undefined;
}

/** Why an address could not be reached, in words where the error of the system is a common one. */
export function reachReasonOf(error: unknown): string {
  const root = rootOf(error);
  return reasonFor((Object(root) as NodeJS.ErrnoException).code ?? '', root);
}

export function lost(message: string, cause?: unknown): IsthmusError {
  return new IsthmusError('CONNECTION_CLOSED', message, { cause, sent: 'maybe' });
}

/** The server no longer knows the session. A request that it refused for that reason did not run. */
export function sessionLost(label: string, status?: number): IsthmusError {
  const message = `${label} no longer knows the session`;
  return new IsthmusError('CONNECTION_CLOSED', message, { sent: 'no', status });
}

export function neverSent(label: string, cause: Error | undefined): IsthmusError {
  return lost(`The connection to ${label} was lost before the request was sent`, cause).with({ sent: 'no' });
}

export function noAnswer(label: string, method: string): IsthmusError {
  return new IsthmusError('INVALID_RESULT', `${label} accepted ${method} and sent no answer`, {
    sent: 'maybe',
  });
}

export function timedOut(label: string, ms: number): IsthmusError {
  return new IsthmusError('TIMED_OUT', `${label} did not answer within ${ms} ms`, { sent: 'maybe' });
}

/** A function of the caller failed before the request was made. */
export function callerFailed(what: string, code: LocalErrorCode, cause: unknown): IsthmusError {
  if (cause instanceof IsthmusError) return cause.with({ sent: 'no' });
  return new IsthmusError(code, `${what} failed: ${messageOf(cause)}`, { cause, sent: 'no' });
}

/** The answer is an error status without a JSON-RPC message. */
export function statusFailure(label: string, answer: StatusFacts): IsthmusError {
  const { status, excerpt, retryAfterMs, wwwAuthenticate } = answer;
  const name = STATUS_CODES[status];
  const message = [
    `${label} answered with HTTP ${status}${name ? ` ${name}` : ''}`,
    excerpt && `: ${excerpt}`,
    wwwAuthenticate && ` (WWW-Authenticate: ${wwwAuthenticate})`,
    retryAfterMs !== undefined && `; retry after ${Math.ceil(retryAfterMs / 1000)} s`,
  ];
  const code = status === 401 || status === 403 ? 'UNAUTHORIZED' : 'HTTP_STATUS';
  const sent: Sent = NOT_PROCESSED.has(status) ? 'no' : 'maybe';
  return new IsthmusError(code, message.filter(Boolean).join(''), { status, sent });
}

export interface StatusFacts {
  readonly status: number;
  /** The beginning of the body, as readable text. */
  readonly excerpt?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly wwwAuthenticate?: string | undefined;
}

function reasonFor(code: string, cause: unknown): string {
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ENOTFOUND') return 'the host name does not exist (ENOTFOUND)';
  if (isNotTls(code, cause)) return 'its port does not speak TLS (https)';
  return UNTRUSTED.test(code)
    ? `its certificate is not trusted: ${messageOf(cause)} (${code})`
    : messageOf(cause);
}

/** OpenSSL's codes for a certificate that is not trusted, or that is for another name. */
const UNTRUSTED = /^(CERT_.*|.*_CERT|UNABLE_TO_.*|SELF_SIGNED_.*|DEPTH_ZERO_.*|ERR_TLS_CERT_.*)$/;

/** The peer has answered the handshake with something else, such as plain HTTP. Sockets of Node have another code for it. */
function isNotTls(code: string, cause: unknown): boolean {
  const isOfSocket = code === 'EPROTO' && messageOf(cause).includes('wrong version number');
  return isOfSocket || code === 'ERR_SSL_WRONG_VERSION_NUMBER';
}

/** `fetch` wraps the cause, and Node wraps the failures of several addresses in one error. */
function rootOf(error: unknown): unknown {
  const { cause, errors } = Object(error) as { cause?: unknown; errors?: unknown[] };
  if (cause instanceof Error) return rootOf(cause);
  return Array.isArray(errors) && errors[0] instanceof Error ? errors[0] : error;
}

const UNREACHABLE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|UND_ERR_SOCKS5.*)$/;

/** Failures before the first byte of a request is sent. */
const NEVER_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_SSL_WRONG_VERSION_NUMBER|CERT_.*|.*_CERT|ERR_TLS_.*|UNABLE_TO_.*|SELF_SIGNED_.*|DEPTH_ZERO_.*)$/;

/** Statuses of a request that was refused before it was processed. */
const NOT_PROCESSED: ReadonlySet<number> = new Set([
  301, 302, 303, 307, 308, 401, 403, 404, 405, 406, 413, 415, 429, 503,
]);

/** The requests that wait for this server take too much memory. */
export function tooManyWaiting(label: string): IsthmusError {
  const message = `Too many requests wait to be sent to ${label}; the request was not sent, try again later`;
  return new IsthmusError('BUSY', message, { sent: 'no' });
}
