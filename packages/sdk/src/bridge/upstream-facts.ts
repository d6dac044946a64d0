import { hasTasks, TASKS_EXTENSION, withoutExtension } from '../era/extensions.js';
import { readHeaderParams } from '../era/modern/headers.js';
import { isAtLeast } from '../era/revisions.js';
import { ProtocolError } from '../errors.js';
import { ByPrincipal } from '../exchange/by-principal.js';
import type { Call, Era, HeaderParam, Peer, ServerFacts } from '../exchange/call.js';
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
  /** How the upstream runs tools as tasks: as 2025-11-25 has it, as the extension has it, or not at all. */
  readonly tasks: 'legacy' | 'extension' | undefined;
  /** A legacy upstream takes `tasks/cancel`. */
  readonly cancelsTasks: boolean;
}

export function toUpstreamFacts(
  label: string,
  era: Era,
  revision: string,
  server: ServerFacts,
): UpstreamFacts {
  const { info = { name: label, version: '0.0.0' }, capabilities, instructions } = server;
  const { requests, cancel } = (capabilities.tasks ?? {}) as {
    requests?: { tools?: { call?: unknown } };
    cancel?: unknown;
  };
  const hasLegacyTasks = era === 'legacy' && requests?.tools?.call !== undefined;
  return {
    era,
    revision,
    info,
    instructions,
    capabilities: carried(capabilities, era, revision),
    tasks: hasLegacyTasks ? 'legacy' : era === 'modern' && hasTasks(capabilities) ? 'extension' : undefined,
    cancelsTasks: cancel !== undefined,
  };
}

/** All capabilities except tasks, unknown ones included. */
function carried(capabilities: ServerCapabilities, era: Era, revision: string): ServerCapabilities {
  const { tasks, ...rest } = withoutExtension(capabilities, TASKS_EXTENSION);
  const kept: ServerCapabilities = rest;
  // The first revision had completion but no capability for it. A server without completion answers with an error.
  const mayComplete = era === 'legacy' && !isAtLeast(revision, '2025-03-26');
  if (mayComplete && (rest.prompts || rest.resources)) kept.completions ??= {};
  return kept;
}

/** What the bridge remembers of tool lists, by principal: a server may have different tools for each. */
export class UpstreamTools {
  readonly #tools = new ByPrincipal(() => new Map<string, ToolFacts>());

  readonly #shown: (support: unknown, peer: Peer) => unknown;

  /** `shown`: the `taskSupport` of a tool as a client is shown it. Undefined: without the member `execution`. */
  constructor(shown: (support: unknown, peer: Peer) => unknown) {
    this.#shown = shown;
  }

  /** Remembers the tools, and returns the list with `execution` as this client needs it. */
  learn(result: JsonObject, peer: Peer): JsonObject {
    const { tools } = result;
    const { principal } = peer;
    if (!Array.isArray(tools)) return result;
    this.#tools.of(principal);
    let rebuilt = false;
    const carried = tools.map((tool: unknown) => {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') return tool;
      const { name } = tool;
      const read = readHeaderParams(tool['inputSchema']);
      const { execution, ...rest } = tool;
      const support = isJsonObject(execution) ? execution['taskSupport'] : undefined;
      this.#note(principal, name, {
        headers: read.kind === 'valid' ? read.params : [],
        taskSupport: isTaskSupport(support) ? support : undefined,
      });
      const shown = this.#shown(support, peer);
      if (shown === support) return tool;
      rebuilt = true;
      return shown === undefined ? rest : { ...rest, execution: { taskSupport: shown } };
    });
    return rebuilt ? { ...result, tools: carried } : result;
  }

  headerParams(tool: string, principal: string | undefined): readonly HeaderParam[] {
    return this.#tools.get(principal)?.get(tool)?.headers ?? [];
  }

  /** How a legacy upstream runs the tool as a task. Undefined: not at all, or the tool is not known. */
  taskSupport(tool: unknown, principal: string | undefined): TaskSupport | undefined {
    return this.#tools.get(principal)?.get(tool as string)?.taskSupport;
  }

  /** Whether a list of tools of this principal has been read. */
  isKnown(principal: string | undefined): boolean {
    return this.#tools.get(principal) !== undefined;
  }

  /** Most tools have nothing to remember. */
  #note(principal: string | undefined, name: string, facts: ToolFacts): void {
    if (facts.headers.length === 0 && facts.taskSupport === undefined) {
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
  readonly taskSupport: TaskSupport | undefined;
}

export type TaskSupport = 'optional' | 'required';

export function isTaskSupport(value: unknown): value is TaskSupport {
  return value === 'optional' || value === 'required';
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
