import { META } from '../../era/meta-keys.js';
import {
  type DecodedMessage,
  type DecodedResult,
  isJsonObject,
  type JsonObject,
  type JsonRpcRequest,
  requestMessage,
} from '../../wire/json-rpc.js';
import type { Delivery } from './delivery.js';
import { StreamCursor } from './follow-stream.js';
import type { InFlightRequest } from './in-flight-request.js';
import { modernHeaders } from './post-headers.js';
import { decodeEvent, readAnswer } from './read-answer.js';
import type { RetryingHttp } from './retrying-http.js';
import type { ToolHeaders } from './tool-headers.js';

export interface ToolSource {
  readonly asker: RetryingHttp;
  readonly url: URL;
  readonly tools: ToolHeaders;
  readonly delivery: Delivery;
}

/** Lists the tools anew, page by page, on behalf of a call whose headers were refused (HTTP-064). */
export async function refreshTools(
  source: ToolSource,
  call: InFlightRequest,
  signal: AbortSignal,
): Promise<void> {
  const meta = call.request.params?.['_meta'];
  const _meta = Object.fromEntries(
    WHO.map((key) => [key, isJsonObject(meta) ? meta[key] : undefined]).filter(
      ([, value]) => value !== undefined,
    ),
  );
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    // A text as id, since the ids of those who use the connection are numbers.
    const id = `tools of ${String(call.id)}, page ${page}`;
    const request = requestMessage(id, 'tools/list', { _meta, ...(cursor !== undefined && { cursor }) });
    cursor = (await list(source, request, call.revision!, signal))?.['nextCursor'];
    if (typeof cursor !== 'string') return;
  }
}

async function list(
  { asker, url, tools, delivery }: ToolSource,
  request: JsonRpcRequest,
  revision: string,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const headers = modernHeaders(request, revision, tools);
  const answer = await asker.ask({ method: 'POST', url, headers, body: JSON.stringify(request), signal });
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

/** Not the progress token, nor the wish for logs: nobody would hear them. */
const WHO = [META.protocolVersion, META.clientInfo, META.clientCapabilities];
const MAX_PAGES = 100;
