import { readHeaderParams } from '../era/modern/headers.js';
import { isAtLeast } from '../era/revisions.js';
import { ProtocolError } from '../errors.js';
import { ByPrincipal } from '../exchange/by-principal.js';
import type { Call, Era, HeaderParam, ServerFacts } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { Implementation, ServerCapabilities } from '../wire/model.js';
import { asOwn } from './upstream-errors.js';

/** What the upstream is, as its clients see it. */
export interface UpstreamFacts {
  readonly era: Era;
  readonly revision: string;
  readonly info: Implementation;
  readonly instructions: string | undefined;
  /** Only what can really be carried. */
  readonly capabilities: ServerCapabilities;
  /** Tools may be called as tasks there, and some perhaps only so. */
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

/** Tasks of either era are not handed on; the rest is, also what is not known here. */
function carried(capabilities: ServerCapabilities, era: Era, revision: string): ServerCapabilities {
  const { tasks, extensions, ...rest } = capabilities;
  const { [TASKS]: _tasks, ...others } = extensions ?? {};
  const kept: ServerCapabilities = rest;
  if (Object.keys(others).length > 0) kept.extensions = others;
  // The first revision had completion without a way to declare it; a server without it answers with an error.
  const mayComplete = era === 'legacy' && !isAtLeast(revision, '2025-03-26');
  if (mayComplete && (rest.prompts || rest.resources)) kept.completions ??= {};
  return kept;
}

export const TASKS = 'io.modelcontextprotocol/tasks';

/** What the lists of tools contained, for each principal: a server may show other tools to each of them. */
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

/**
 * A legacy server may refuse a call with -32042 until the user has been to some pages. A modern client has no
 * such error: it is asked to send the user there, and the call, which has not run, is made again (wire sheet §14).
 * False when the user did not go; then the refusal stands.
 */
export async function visitPages(call: Call, refusal: ProtocolError): Promise<boolean> {
  const pages = pagesOf(refusal);
  if (pages.length === 0) return false;
  const answers = await Promise.all(
    pages.map((params) => call.ask({ method: 'elicitation/create', params: { mode: 'url', ...params } })),
  ).catch((error) => {
    throw asOwn(error);
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
