import { allowsTool } from '@isthmus/sdk/internal/config/allows-tool.js';
import type { ToolLists } from '@isthmus/sdk/internal/config/entry.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { ServiceAround } from './service-around.js';

/** A server without those of its tools that are not to be offered. */
export function withSelection(service: Service, tools: ToolLists): Service {
  return tools.allow || tools.deny ? new SelectedTools(service, tools) : service;
}

class SelectedTools extends ServiceAround {
  readonly #tools: ToolLists;

  constructor(inner: Service, tools: ToolLists) {
    super(inner);
    this.#tools = tools;
  }

  override async handle(call: Call): Promise<JsonObject> {
    if (call.method === 'tools/call' && !allowsTool(this.#tools, String(call.params['name']))) {
      throw new ProtocolError(ErrorCode.InvalidParams, `Unknown tool: ${String(call.params['name'])}`);
    }
    const result = await this.inner.handle(call);
    if (call.method !== 'tools/list' || !Array.isArray(result['tools'])) return result;
    const isOffered = (tool: unknown) => isJsonObject(tool) && allowsTool(this.#tools, String(tool['name']));
    return { ...result, tools: result['tools'].filter(isOffered) };
  }
}
