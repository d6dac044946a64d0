import { readHeaderParams } from '../era/modern/headers.js';
import { isAtLeast } from '../era/revisions.js';
import { ProtocolError } from '../errors.js';
import { ByPrincipal } from '../exchange/by-principal.js';
import type { Call, Era, HeaderParam, ServerFacts } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { Implementation, ServerCapabilities } from '../wire/model.js';
import { markForClient } from './upstream-errors.js';

/** What the upstream is, in the form for clients. */
export interface UpstreamFacts {
  readonly era: Era;
  readonly revision: string;
  readonly info: Implementation;
  readonly instructions: string | undefined;
  /** Only the capabilities that the bridge can forward. */
  readonly capabilities: ServerCapabilities;
  /** The upstream runs tools as tasks, some perhaps only so. */
  readonly hasToolTasks: boolean;
}

export function toUpstreamFacts(
  label: string,
  era: Era,
  revision: string,
  server: ServerFacts,
): UpstreamFacts {
  const { info = { name: label, version: '0.0.0' }, capabilities, instructions } = server;
  const requests = capabilities.tasks?.['requests'] as { tools?: { call?: unknown } } | undefined;
  return {
    era,
    revision,
    info,
    instructions,
    capabilities: carried(capabilities, era, revision),
    hasToolTasks: requests?.tools?.call !== undefined,
  };
}

/** All capabilities except tasks, unknown ones included. */
function carried(capabilities: ServerCapabilities, era: Era, revision: string): ServerCapabilities {
  const { tasks, extensions, ...rest } = capabilities;
  const { [TASKS]: _tasks, ...others } = extensions ?? {};
  const kept: ServerCapabilities = rest;
  if (Object.keys(others).length > 0) kept.extensions = others;
  // The first revision had completion but no capability for it. A server without completion answers with an error.
  const mayComplete = era === 'legacy' && !isAtLeast(revision, '2025-03-26');
  if (mayComplete && (rest.prompts || rest.resources)) kept.completions ??= {};
  return kept;
}

export const TASKS = 'io.modelcontextprotocol/tasks';

/** What the bridge remembers of tool lists, by principal: a server may have different tools for each. */
export class UpstreamTools {
  readonly #tools = new ByPrincipal(() => new Map<string, ToolFacts>());

  /** Remembers the tools, and returns the list without `execution`: the client does not use tasks (wire sheet §14). */
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

  /** Most tools have nothing to remember. */
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

/** For one principal. A tool beyond this limit is called as if its list had not been read. */
const MAX_TOOLS = 2000;

/**
 * A legacy server may refuse a call with -32042 until the user has visited some pages. The modern era has no such error, so
 * the client is asked to send the user there, and then the call, which has not run, is made again (wire sheet §14).
 * False: the user did not accept, and the error stands.
 */
export async function visitPages(call: Call, refusal: ProtocolError): Promise<boolean> {
  const pages = pagesOf(refusal);
  if (pages.length === 0) return false;
  const answers = await Promise.all(
    pages.map((params) => call.ask({ method: 'elicitation/create', params: { mode: 'url', ...params } })),
  ).catch((error) => {
    throw markForClient(error);
  });
  return answers.every((answer) => 'action' in answer && answer.action === 'accept');
}

export function asksForPages(error: unknown): error is ProtocolError {
  return error instanceof ProtocolError && error.code === ErrorCode.LegacyUrlElicitationRequired;
}

function pagesOf({ data }: ProtocolError): { message: string; url: string }[] {
  const list = isJsonObject(data) ? data['elicitations'] : undefined;
  return (Array.isArray(list) ? list : []).flatMap((each: unknown) => {
    if (!isJsonObject(each) || typeof each['url'] !== 'string') return [];
    const { message, url } = each;
    return [{ message: typeof message === 'string' ? message : `The server asks you to open ${url}`, url }];
  });
}
