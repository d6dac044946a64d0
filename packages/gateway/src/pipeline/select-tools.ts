import { isThenable } from '@isthmus/sdk/internal/async/deferred.js';
import { allowsTool, type ToolLists } from '@isthmus/sdk/internal/config/server-spec.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { deriveService } from './derive-service.js';

/** Hides the tools that the configuration does not offer: they are not listed and cannot be called. */
export function selectTools(inner: Service, { tools }: { readonly tools?: ToolLists | undefined }): Service {
  if (!tools?.allow && !tools?.deny) return inner;
  const isOffered = (tool: unknown) => isJsonObject(tool) && allowsTool(tools, String(tool['name']));
  const select = (result: JsonObject): JsonObject =>
    Array.isArray(result['tools']) ? { ...result, tools: result['tools'].filter(isOffered) } : result;
  return deriveService(inner, {
    handle(call) {
      if (call.method === 'tools/call' && !isOffered(call.params)) {
        const name = String(call.params['name']);
        return Promise.reject(new ProtocolError(ErrorCode.InvalidParams, `Unknown tool: ${name}`));
      }
      const result = inner.handle(call);
      if (call.method !== 'tools/list') return result;
      return isThenable(result) ? result.then(select) : select(result);
    },
  });
}
