import type { Era } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import {
  type Decoded,
  type DecodedNotification,
  type DecodedRequest,
  isJsonObject,
  type JsonObject,
  type JsonRpcErrorBody,
  type RequestId,
} from '../wire/json-rpc.js';
import { claimsModern, META } from './meta-keys.js';
import { readEnvelope, unsupportedVersion } from './modern/envelope.js';
import {
  decodeHeaderValue,
  type HeaderParam,
  headerMatches,
  headerParamValue,
  routingName,
} from './modern/headers.js';
import { isLegacyRevision, isModernRevision, REVISION_TABLE } from './revisions.js';

/** What a POST means: its era is chosen from its content, each time. */
export type HttpRoute =
  | { readonly kind: 'modern'; readonly request: DecodedRequest }
  | { readonly kind: 'modern-notification'; readonly notification: DecodedNotification }
  /** A handshake: the beginning of a legacy session. */
  | { readonly kind: 'initialize'; readonly request: DecodedRequest }
  /** Anything else of the legacy era; it belongs to the session that the headers name. */
  | { readonly kind: 'legacy'; readonly message: Decoded; readonly revision: string | undefined }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly error: JsonRpcErrorBody;
      readonly id: RequestId | undefined;
    };

export interface HttpFacts {
  /** By its lower-case name. */
  header(name: string): string | undefined;
  readonly message: Decoded;
  readonly eras: readonly Era[];
  readonly principal: string | undefined;
  /** The arguments of a tool that travel in headers, too. */
  headerParams(tool: string, principal?: string): readonly HeaderParam[];
}

export function classifyHttp(facts: HttpFacts): HttpRoute {
  const { message, eras } = facts;
  const version = facts.header('mcp-protocol-version')?.trim();
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
      // JRPC-014: a modern client has nothing to answer.
      return refused(
        400,
        {
          code: ErrorCode.InvalidRequest,
          message: 'Invalid request: this is an answer, and nothing was asked',
        },
        undefined,
      );
  }
}

/** LHTTP-026; of no code that only modern servers use, or a client would take us for one. */
export function noRevision(version: string): JsonRpcErrorBody {
  const message = `The header MCP-Protocol-Version names a revision that is not known here: ${version}. Known are ${REVISION_TABLE}`;
  return { code: ErrorCode.InvalidRequest, message };
}

function idOf(message: Decoded): RequestId | undefined {
  return message.kind === 'request' ? message.id : undefined;
}

/**
 * The status of an answer that is an error and nothing else (wire sheet §6). The statuses of the protocol belong to
 * requests that the protocol refuses. Where the method is known, the handler has spoken (an upstream may answer
 * -32601 to a call of an unknown tool), and a status other than 200 would read as a failure of the transport.
 */
export function httpStatusOf({ code, data }: JsonRpcErrorBody, method?: string, isKnown = false): number {
  if (isKnown && HANDLERS_WORD.has(code)) return 200;
  switch (code) {
    case ErrorCode.InternalError: {
      const later = comeBackOf(data);
      if (later) return later.status;
      // What a bridge cannot ask says nothing about an era, and must not be taken for one (VER-018).
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

/** -32021 is not among these: it has status 400 wherever it comes from (META-009). */
const HANDLERS_WORD: ReadonlySet<number> = new Set([
  ErrorCode.MethodNotFound,
  ErrorCode.HeaderMismatch,
  ErrorCode.UnsupportedProtocolVersion,
  ErrorCode.ParseError,
  ErrorCode.InvalidRequest,
]);

/** `Retry-After`, in whole seconds: where an error says that the call may be made again, and when. */
export function retryAfterOf({ code, data }: JsonRpcErrorBody): string | undefined {
  const later = code === ErrorCode.InternalError ? comeBackOf(data) : undefined;
  return later && retryAfterSeconds(later.retryAfterMs);
}

/** Never nought: a client would come back at once. */
export function retryAfterSeconds(ms: number): string {
  return String(Math.min(Math.max(1, Math.ceil(ms / 1000)), MAX_RETRY_AFTER_S));
}

/** A limit was reached before anything was done. In the `data` of the error, since other transports have no status. */
function comeBackOf(
  data: unknown,
): { readonly status: 429 | 503; readonly retryAfterMs: number } | undefined {
  if (!isJsonObject(data) || data['sent'] !== 'no') return undefined;
  const { status, retryAfterMs } = data;
  if (status !== 429 && status !== 503) return undefined;
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? { status, retryAfterMs } : undefined;
}

/** A version header that no legacy revision has counts as modern, so that its sender hears what is spoken here. */
function isModern(message: Decoded, version: string | undefined, eras: readonly Era[]): boolean {
  if (!eras.includes('modern')) return false;
  if (!eras.includes('legacy')) return true;
  if (message.kind === 'request' || message.kind === 'notification') {
    if (claimsModern(message.params)) return true;
    // A session that ended its handshake in a revision we do not know cannot be: initialize speaks for itself.
    if (message.method === 'initialize') return false;
  }
  return version !== undefined && !isLegacyRevision(version);
}

function classifyModern(request: DecodedRequest, version: string | undefined, facts: HttpFacts): HttpRoute {
  const { id, method, params } = request;
  const mismatch = (message: string) => refused(400, { code: ErrorCode.HeaderMismatch, message }, id);
  if (version === undefined) {
    // VER-009: a client of the other era learns what is spoken here.
    if (method === 'initialize' && !claimsModern(params))
      return refused(400, unsupportedVersion(asked(params)), id);
    return mismatch('The header MCP-Protocol-Version is missing');
  }
  const spoken = isModernRevision(version) || (isLegacyRevision(version) && facts.eras.includes('legacy'));
  if (!spoken) return refused(400, unsupportedVersion(version), id);
  const claimed = isJsonObject(params?.['_meta']) ? params['_meta'][META.protocolVersion] : undefined;
  if (typeof claimed === 'string' && claimed !== version) {
    return mismatch(`The header MCP-Protocol-Version says ${version}, and params._meta says ${claimed}`);
  }
  const envelope = readEnvelope(params, facts.principal);
  if (envelope.kind === 'refused') return refused(400, envelope.error, id);
  const problem = headerProblem(method, params, facts);
  if (problem !== undefined) return mismatch(problem);
  // Under modern rules there is no such method (VER-005).
  if (method === 'initialize') {
    return refused(404, { code: ErrorCode.MethodNotFound, message: `Method not found: ${method}` }, id);
  }
  return { kind: 'modern', request };
}

function asked(params: JsonObject | undefined): string {
  return String(params?.['protocolVersion'] ?? '');
}

/** The headers by which others route and judge a request say what its body says, or it is refused. */
function headerProblem(method: string, params: JsonObject | undefined, facts: HttpFacts): string | undefined {
  const named = facts.header('mcp-method');
  if (named === undefined) return 'The header Mcp-Method is missing';
  if (named.trim() !== method)
    return `The header Mcp-Method says ${named.trim()}, and the body says ${method}`;
  const name = routingName(method, params);
  if (name === undefined) return undefined;
  const header = facts.header('mcp-name');
  if (header === undefined) return 'The header Mcp-Name is missing';
  const decoded = decodeHeaderValue(header);
  if (decoded.kind === 'undecodable') return 'The header Mcp-Name cannot be decoded';
  if (decoded.value !== name) return 'The header Mcp-Name does not say what the body says';
  return method === 'tools/call' ? paramProblem(name, params, facts) : undefined;
}

function paramProblem(tool: string, params: JsonObject | undefined, facts: HttpFacts): string | undefined {
  for (const param of facts.headerParams(tool, facts.principal)) {
    const name = `Mcp-Param-${param.header}`;
    const value = headerParamValue(param, params?.['arguments']);
    const header = facts.header(name.toLowerCase());
    if (value === undefined) {
      if (header !== undefined) return `The header ${name} has a value, and the argument has none`;
      continue;
    }
    if (header === undefined) return `The header ${name} is missing`;
    if (!headerMatches(param, value, header)) return `The header ${name} does not say what the body says`;
  }
  return undefined;
}

function refused(status: number, error: JsonRpcErrorBody, id: RequestId | undefined): HttpRoute {
  return { kind: 'refused', status, error, id };
}

/** The number may be another's. */
const MAX_RETRY_AFTER_S = 86_400;
