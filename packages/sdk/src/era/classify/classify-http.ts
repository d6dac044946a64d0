import type { Era, RequestEnvelope } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  type Decoded,
  type DecodedNotification,
  type DecodedRequest,
  isJsonObject,
  type JsonObject,
  type JsonRpcErrorBody,
  type RequestId,
} from '../../wire/json-rpc.js';
import { claimsModern, META } from '../meta-keys.js';
import { readEnvelope, unsupportedVersion } from '../modern/envelope.js';
import {
  decodeHeaderValue,
  type HeaderParam,
  headerMatches,
  headerParamValue,
  isNamed,
  namedBy,
  routingName,
} from '../modern/headers.js';
import { isLegacyRevision, isModernRevision, REVISION_TABLE } from '../revisions.js';

/** What a POST means. The era is read from each request anew. */
export type HttpRoute =
  | { readonly kind: 'modern'; readonly request: DecodedRequest; readonly envelope: RequestEnvelope }
  | { readonly kind: 'modern-notification'; readonly notification: DecodedNotification }
  /** The beginning of a legacy session. */
  | { readonly kind: 'initialize'; readonly request: DecodedRequest }
  /** Any other legacy message; it belongs to the session that the headers name. */
  | { readonly kind: 'legacy'; readonly message: Decoded; readonly revision: string | undefined }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly error: JsonRpcErrorBody;
      readonly id: RequestId | undefined;
    };

interface HttpFacts {
  readonly headers: HeaderSource;
  readonly message: Decoded;
  readonly eras: readonly Era[];
  readonly principal: string | undefined;
  /** The address of the client, if it is known. */
  readonly remote: string | undefined;
  /** The arguments of a tool that are repeated in headers. */
  headerParams(tool: string, principal?: string): readonly HeaderParam[];
}

/** The headers of a request. */
interface HeaderSource {
  /** By its lower-case name. */
  header(name: string): string | undefined;
}

export function classifyHttp(facts: HttpFacts): HttpRoute {
  const { message, eras } = facts;
  const version = facts.headers.header('mcp-protocol-version')?.trim();
  if (!isModern(message, version, eras)) {
    if (message.kind === 'invalid') return refused(400, message.error, message.id);
    if (message.kind === 'request' && message.method === 'initialize')
      return { kind: 'initialize', request: message };
    if (version !== undefined && !isLegacyRevision(version))
      return refused(400, noRevision(version), idOf(message));
    return { kind: 'legacy', message, revision: version };
  }
  switch (message.kind) {
    case 'batch':
      return refused(
        400,
        {
          code: ErrorCode.InvalidRequest,
          message: 'Invalid request: batches exist only in revision 2025-03-26',
        },
        undefined,
      );
    case 'invalid':
      return refused(400, message.error, message.id);
    case 'notification':
      return { kind: 'modern-notification', notification: message };
    case 'request':
      return classifyModern(message, version, facts);
    default:
      // JRPC-014: a modern server sends no requests that a client could answer.
      return refused(
        400,
        {
          code: ErrorCode.InvalidRequest,
          message: 'Invalid request: this is a response, and the server sent no request',
        },
        undefined,
      );
  }
}

/** LHTTP-026. Not a code of modern servers: a client would conclude that this server is modern. */
export function noRevision(version: string): JsonRpcErrorBody {
  const message = `The header MCP-Protocol-Version names an unknown revision: ${version}. Known revisions: ${REVISION_TABLE}`;
  return { code: ErrorCode.InvalidRequest, message };
}

function idOf(message: Decoded): RequestId | undefined {
  return message.kind === 'request' ? message.id : undefined;
}

/**
 * The HTTP status of an error answer (wire sheet §6). The error statuses are for requests that the protocol refuses. If
 * the method is known, the error comes from the handler (an upstream may answer -32601 to a call of an unknown tool), and
 * a status other than 200 would look like a failure of the transport.
 */
export function httpStatusOf({ code, data }: JsonRpcErrorBody, method?: string, isKnown = false): number {
  if (isKnown && CODES_OF_HANDLERS.has(code)) return 200;
  switch (code) {
    case ErrorCode.InternalError: {
      const later = retryOf(data);
      if (later) return later.status;
      // If a bridge cannot reach its upstream, the answer must not be read as evidence of an era (VER-018).
      const isAway = isJsonObject(data) && data['reason'] !== undefined && data['sent'] === 'no';
      return method === 'server/discover' && isAway ? 503 : 200;
    }
    case ErrorCode.MethodNotFound:
      return 404;
    case ErrorCode.HeaderMismatch:
    case ErrorCode.MissingClientCapability:
    case ErrorCode.UnsupportedProtocolVersion:
    case ErrorCode.ParseError:
    case ErrorCode.InvalidRequest:
      return 400;
    default:
      return 200;
  }
}

/** -32021 is not among these: it always has status 400 (META-009). */
const CODES_OF_HANDLERS: ReadonlySet<number> = new Set([
  ErrorCode.MethodNotFound,
  ErrorCode.HeaderMismatch,
  ErrorCode.UnsupportedProtocolVersion,
  ErrorCode.ParseError,
  ErrorCode.InvalidRequest,
]);

/** `Retry-After` in whole seconds, if the error says when the call may be sent again. */
export function retryAfterOf({ code, data }: JsonRpcErrorBody): string | undefined {
  const later = code === ErrorCode.InternalError ? retryOf(data) : undefined;
  return later && retryAfterSeconds(later.retryAfterMs);
}

/** At least 1: with 0 a client would retry at once. */
export function retryAfterSeconds(ms: number): string {
  return String(Math.min(Math.max(1, Math.ceil(ms / 1000)), MAX_RETRY_AFTER_S));
}

/** A limit refused the request before anything was done. It is in `data`, since other transports have no status. */
function retryOf(data: unknown): { readonly status: 429 | 503; readonly retryAfterMs: number } | undefined {
  if (!isJsonObject(data) || data['sent'] !== 'no') return undefined;
  const { status, retryAfterMs } = data;
  if (status !== 429 && status !== 503) return undefined;
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? { status, retryAfterMs } : undefined;
}

/** A version header without a legacy revision counts as modern, so that the answer lists the supported versions. */
function isModern(message: Decoded, version: string | undefined, eras: readonly Era[]): boolean {
  if (!eras.includes('modern')) return false;
  if (!eras.includes('legacy')) return true;
  if (message.kind === 'request' || message.kind === 'notification') {
    if (claimsModern(message.params)) return true;
    // No session can have settled on an unknown revision, so initialize is legacy whatever the header says.
    if (message.method === 'initialize') return false;
  }
  return version !== undefined && !isLegacyRevision(version);
}

function classifyModern(request: DecodedRequest, version: string | undefined, facts: HttpFacts): HttpRoute {
  const { id, method, params } = request;
  if (version === undefined) {
    // VER-009: a legacy client is told the supported versions.
    if (method === 'initialize' && !claimsModern(params))
      return refused(400, unsupportedVersion(String(params?.['protocolVersion'] ?? '')), id);
    return mismatch(id, 'The header MCP-Protocol-Version is missing');
  }
  const spoken = isModernRevision(version) || (isLegacyRevision(version) && facts.eras.includes('legacy'));
  if (!spoken) return refused(400, unsupportedVersion(version), id);
  const claimed = isJsonObject(params?.['_meta']) ? params['_meta'][META.protocolVersion] : undefined;
  if (typeof claimed === 'string' && claimed !== version) {
    return mismatch(id, `The header MCP-Protocol-Version says ${version}, and params._meta says ${claimed}`);
  }
  const envelope = readEnvelope(params, facts.principal, facts.remote);
  if (envelope.kind === 'refused') return refused(400, envelope.error, id);
  const problem = headerProblem(method, params, facts);
  if (problem !== undefined) return mismatch(id, problem);
  // The modern era has no such method (VER-005).
  if (method === 'initialize') {
    return refused(404, { code: ErrorCode.MethodNotFound, message: `Method not found: ${method}` }, id);
  }
  return { kind: 'modern', request, envelope };
}

/** Proxies route by these headers, so a request whose headers and body differ is refused. */
function headerProblem(method: string, params: JsonObject | undefined, facts: HttpFacts): string | undefined {
  const named = facts.headers.header('mcp-method');
  if (named === undefined) return 'The header Mcp-Method is missing';
  if (named.trim() !== method)
    return `The header Mcp-Method says ${named.trim()}, and the body says ${method}`;
  const name = routingName(method, params);
  if (name === undefined) return namelessProblem(method, params, facts);
  const header = facts.headers.header('mcp-name');
  if (header === undefined) return 'The header Mcp-Name is missing';
  const decoded = decodeHeaderValue(header);
  if (decoded === undefined) return 'The header Mcp-Name cannot be decoded';
  if (decoded !== name) return 'The header Mcp-Name does not match the body';
  return method === 'tools/call' ? paramProblem(name, params, facts) : undefined;
}

/**
 * The body has no name that is a string. Some servers take `["name"]` for a name, and a proxy in front has judged the
 * header alone (HTTP-033). If the header is missing, too, the handler of the method says what is missing.
 */
function namelessProblem(
  method: string,
  params: JsonObject | undefined,
  facts: HttpFacts,
): string | undefined {
  if (!isNamed(method)) return undefined;
  const isMissing = namedBy(method, params) === undefined && facts.headers.header('mcp-name') === undefined;
  return isMissing ? undefined : 'The header Mcp-Name does not match the body';
}

function paramProblem(tool: string, params: JsonObject | undefined, facts: HttpFacts): string | undefined {
  for (const param of facts.headerParams(tool, facts.principal)) {
    const name = `Mcp-Param-${param.header}`;
    const value = headerParamValue(param, params?.['arguments']);
    const header = facts.headers.header(name.toLowerCase());
    if (value === undefined) {
      if (header !== undefined) return `The header ${name} has a value, and the argument is missing`;
      continue;
    }
    if (header === undefined) return `The header ${name} is missing`;
    if (!headerMatches(param, value, header)) return `The header ${name} does not match the body`;
  }
  return undefined;
}

function mismatch(id: RequestId, message: string): HttpRoute {
  return refused(400, { code: ErrorCode.HeaderMismatch, message }, id);
}

function refused(status: number, error: JsonRpcErrorBody, id: RequestId | undefined): HttpRoute {
  return { kind: 'refused', status, error, id };
}

/** The time may come from an upstream, so it is bounded. */
const MAX_RETRY_AFTER_S = 86_400;
