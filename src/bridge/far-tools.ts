import { readHeaderParams } from '../era/modern/headers.js';
import type { HeaderParam } from '../exchange/call.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** What the lists of tools that came by have told. */
export class FarTools {
  readonly #headers = new Map<string, readonly HeaderParam[]>();
  readonly #onlyTasks = new Set<string>();

  /** The list without what only concerns the far hop: whether a tool wants to be called as a task (wire sheet §14). */
  learn(result: JsonObject): JsonObject {
    const { tools } = result;
    if (!Array.isArray(tools)) return result;
    let rebuilt = false;
    const carried = tools.map((tool: unknown) => {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') return tool;
      const { name } = tool;
      const read = readHeaderParams(tool['inputSchema']);
      this.#headers.delete(name);
      if (read.kind === 'valid' && read.params.length > 0) this.#headers.set(name, read.params);
      const { execution, ...rest } = tool;
      this.#onlyTasks.delete(name);
      if (execution === undefined) return tool;
      if (isJsonObject(execution) && execution['taskSupport'] === 'required') this.#onlyTasks.add(name);
      rebuilt = true;
      return rest;
    });
    return rebuilt ? { ...result, tools: carried } : result;
  }

  headerParams(tool: string): readonly HeaderParam[] {
    return this.#headers.get(tool) ?? [];
  }

  onlyAsTask(tool: unknown): boolean {
    return this.#onlyTasks.has(tool as string);
  }
}
