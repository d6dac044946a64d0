import { readHeaderParams } from '../era/modern/headers.js';
import { ByPrincipal } from '../exchange/by-principal.js';
import type { HeaderParam } from '../exchange/call.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** What the lists of tools have told, for each principal apart: a server may show each of them other tools. */
export class UpstreamTools {
  readonly #tools = new ByPrincipal(() => new Map<string, ToolFacts>());

  /** The list without what only concerns the far hop: whether a tool wants to be called as a task (wire sheet §14). */
  learn(result: JsonObject, principal: string | undefined): JsonObject {
    const { tools } = result;
    if (!Array.isArray(tools)) return result;
    let rebuilt = false;
    const carried = tools.map((tool: unknown) => {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') return tool;
      const { name } = tool;
      const read = readHeaderParams(tool['inputSchema']);
      const { execution, ...rest } = tool;
      this.#note(principal, name, {
        headers: read.kind === 'valid' ? read.params : [],
        onlyAsTask: isJsonObject(execution) && execution['taskSupport'] === 'required',
      });
      if (execution === undefined) return tool;
      rebuilt = true;
      return rest;
    });
    return rebuilt ? { ...result, tools: carried } : result;
  }

  headerParams(tool: string, principal: string | undefined): readonly HeaderParam[] {
    return this.#tools.get(principal)?.get(tool)?.headers ?? [];
  }

  onlyAsTask(tool: unknown, principal: string | undefined): boolean {
    return this.#tools.get(principal)?.get(tool as string)?.onlyAsTask ?? false;
  }

  /** Most tools have nothing that is worth a note. */
  #note(principal: string | undefined, name: string, facts: ToolFacts): void {
    if (facts.headers.length === 0 && !facts.onlyAsTask) {
      this.#tools.get(principal)?.delete(name);
      return;
    }
    const known = this.#tools.of(principal);
    known.delete(name);
    known.set(name, facts);
    if (known.size > MAX_TOOLS) known.delete(known.keys().next().value!);
  }
}

interface ToolFacts {
  readonly headers: readonly HeaderParam[];
  readonly onlyAsTask: boolean;
}

/** Of one principal; a call of a tool beyond them is made as if its list had not been seen. */
const MAX_TOOLS = 2000;
