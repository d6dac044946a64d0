import { META } from '../../era/meta-keys.js';
import {
  encodeHeaderValue,
  type HeaderParam,
  headerParamValue,
  readHeaderParams,
  routingName,
} from '../../era/modern/headers.js';
import {
  type DecodedMessage,
  type DecodedResult,
  isJsonObject,
  type JsonObject,
  type JsonRpcRequest,
  requestMessage,
} from '../../wire/json-rpc.js';
import type { Delivery } from './delivery.js';
import type { InFlightRequest } from './in-flight-requests.js';
import { StreamCursor } from './legacy-streams.js';
import { decodeEvent, readAnswer } from './read-answer.js';
import type { RetryingHttp } from './retrying-http.js';

/** The headers of every POST (HTTP-007). */
export const POST_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const;

/** The headers in which a modern request repeats parts of its body (HTTP-026 … HTTP-031, HTTP-039). */
export function modernHeaders(
  request: { readonly method: string; readonly params?: JsonObject },
  revision: string,
  tools: ToolHeaders,
): Record<string, string> {
  const { method, params } = request;
  const name = routingName(method, params);
  return {
    ...POST_HEADERS,
    'mcp-protocol-version': encodeHeaderValue(revision),
    'mcp-method': encodeHeaderValue(method),
    ...(name !== undefined && { 'mcp-name': encodeHeaderValue(name) }),
    ...(method === 'tools/call' && tools.of(params)),
  };
}

export function sameHeaders(a: Record<string, string>, b: Record<string, string>): boolean {
  return Object.keys({ ...a, ...b }).every((name) => a[name] === b[name]);
}

/** Which arguments of which tools are repeated in headers, by the last list (HTTP-039, HTTP-065). */
export class ToolHeaders {
  readonly #tools = new Map<string, readonly HeaderParam[]>();

  /** Returns the result without tools whose annotations break the rules (HTTP-046), and reports each of them. */
  learn(result: JsonObject, onLeftOut: (tool: string, why: string) => void): JsonObject {
    const { tools } = result;
    if (!Array.isArray(tools)) return result;
    const kept = tools.filter((tool) => {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') return true;
      const { name } = tool;
      const read = readHeaderParams(tool['inputSchema']);
      this.#tools.delete(name);
      if (read.kind === 'invalid') onLeftOut(name, read.why);
      else if (read.params.length > 0) this.#tools.set(name, read.params);
      return read.kind === 'valid';
    });
    return kept.length === tools.length ? result : { ...result, tools: kept };
  }

  /** The headers of a call; none for a tool that was never listed (HTTP-066). */
  of(params: JsonObject | undefined): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const param of this.#tools.get(String(params?.['name'])) ?? []) {
      const value = headerParamValue(param, params?.['arguments']);
      // HTTP-044: a server cannot compare a number that JSON does not hold exactly.
      const exact = typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER;
      if (value !== undefined && exact) {
        headers[`mcp-param-${param.header.toLowerCase()}`] = encodeHeaderValue(value);
      }
    }
    return headers;
  }
}

export interface ToolSource {
  readonly http: RetryingHttp;
  readonly url: URL;
  readonly tools: ToolHeaders;
  readonly delivery: Delivery;
}

/** Lists the tools again, page by page, for a call whose headers were refused (HTTP-064). */
export async function refreshTools(
  source: ToolSource,
  call: InFlightRequest,
  signal: AbortSignal,
): Promise<void> {
  const meta = call.message.params?.['_meta'];
  const _meta = Object.fromEntries(
    KEPT_META.map((key) => [key, isJsonObject(meta) ? meta[key] : undefined]).filter(
      ([, value]) => value !== undefined,
    ),
  );
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    // A string as id, since the users of the connection have numbers.
    const id = `tools of ${String(call.id)}, page ${page}`;
    const request = requestMessage(id, 'tools/list', { _meta, ...(cursor !== undefined && { cursor }) });
    cursor = (await list(source, request, call.revision!, signal))?.['nextCursor'];
    if (typeof cursor !== 'string') return;
  }
}

async function list(
  { http, url, tools, delivery }: ToolSource,
  request: JsonRpcRequest,
  revision: string,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const headers = modernHeaders(request, revision, tools);
  const answer = await http.send({ method: 'POST', url, headers, body: JSON.stringify(request), signal });
  let result: DecodedResult | undefined;
  const onMessage = (message: { readonly kind: string }) => {
    if (message.kind === 'result') result = message as DecodedMessage & DecodedResult;
  };
  await readAnswer(answer, {
    ...delivery.reading(undefined, new StreamCursor()),
    onMessage,
    onEvent: (event) => onMessage(decodeEvent(event)),
  });
  return result && delivery.learn(result).result;
}

/** Without the progress token and the log level, since progress and logs of this list are not delivered. */
const KEPT_META = [META.protocolVersion, META.clientInfo, META.clientCapabilities];
const MAX_PAGES = 100;
