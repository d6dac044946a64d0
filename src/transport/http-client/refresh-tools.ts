import { META } from '../../era/meta-keys.js';
import { isJsonObject, type JsonObject, type JsonRpcRequest, requestMessage } from '../../wire/json-rpc.js';

/** Lists the tools page by page, on behalf of a call whose headers were refused. */
export async function refreshTools(
  call: JsonRpcRequest,
  list: (request: JsonRpcRequest, text: string) => Promise<JsonObject | undefined>,
): Promise<void> {
  const of = call.params?.['_meta'];
  const _meta = Object.fromEntries(
    WHO.map((key) => [key, isJsonObject(of) ? of[key] : undefined]).filter(
      ([, value]) => value !== undefined,
    ),
  );
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    // A text as id, since the ids of those who use the connection are numbers.
    const id = `tools of ${String(call.id)}, page ${page}`;
    const request = requestMessage(id, 'tools/list', { _meta, ...(cursor !== undefined && { cursor }) });
    cursor = (await list(request, JSON.stringify(request)))?.['nextCursor'];
    if (typeof cursor !== 'string') return;
  }
}

/** Not the progress token, nor the wish for logs: nobody would hear them. */
const WHO = [META.protocolVersion, META.clientInfo, META.clientCapabilities];
const MAX_PAGES = 100;
