import {
  encodeHeaderValue,
  type HeaderParam,
  headerParamValue,
  readHeaderParams,
} from '../../era/modern/headers.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';

/** Which arguments of which tools travel in headers, too, as last listed (HTTP-039, HTTP-065). */
export class ToolHeaders {
  readonly #tools = new Map<string, readonly HeaderParam[]>();

  /** The result without the tools whose annotations break the rules (HTTP-046); each is told with the reason. */
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
      // HTTP-044: what JSON numbers cannot hold exactly cannot be compared either.
      const exact = typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER;
      if (value !== undefined && exact) {
        headers[`mcp-param-${param.header.toLowerCase()}`] = encodeHeaderValue(value);
      }
    }
    return headers;
  }
}
