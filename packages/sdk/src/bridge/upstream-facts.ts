import { isAtLeast } from '../era/revisions.js';
import type { Era, ServerFacts } from '../exchange/call.js';
import type { Implementation, ServerCapabilities } from '../wire/model.js';

/** What the far side is, as the near side is told. */
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
  // The first revision had completion without a way to declare it; whoever has none says so when asked.
  const mayComplete = era === 'legacy' && !isAtLeast(revision, '2025-03-26');
  if (mayComplete && (rest.prompts || rest.resources)) kept.completions ??= {};
  return kept;
}

export const TASKS = 'io.modelcontextprotocol/tasks';
