/** Tools of well-known servers that show something when they are called with the right arguments. */
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

interface KnownTool {
  /** To see what it does, without waiting long. */
  readonly quick?: JsonObject;
  /** To keep it busy for so long. */
  readonly slow?: (ms: number) => JsonObject;
  /** What changes when it is called. */
  readonly changes?: ListChanges;
}

export interface ListChanges {
  /** Lists that change: `tools`, `prompts`, `resources`. */
  readonly lists: readonly ('tools' | 'prompts' | 'resources')[];
  /** Resources that change. */
  readonly uris: readonly string[];
}

const longRunning = (ms: number): JsonObject => ({ duration: ms / 1000, steps: Math.ceil(ms / 100) });

const KNOWN: Readonly<Record<string, KnownTool>> = {
  // `isthmus demo`
  sleep: { quick: { ms: 120 }, slow: (ms) => ({ ms }) },
  touch: { changes: { lists: ['tools'], uris: ['demo://clock'] } },
  // The fixture of the official conformance suite
  test_trigger_tool_change: { changes: { lists: ['tools'], uris: [] } },
  test_trigger_prompt_change: { changes: { lists: ['prompts'], uris: [] } },
  test_trigger_resource_change: { changes: { lists: ['resources'], uris: [] } },
  // server-everything, now and before
  'trigger-long-running-operation': { quick: longRunning(300), slow: longRunning },
  longRunningOperation: { quick: longRunning(300), slow: longRunning },
};

/** Arguments that show more than those made from the schema; undefined where the tool is another one. */
export function quickArguments(tool: JsonObject): JsonObject | undefined {
  return fitting(tool, knownTool(tool)?.quick);
}

/** Arguments with which the tool takes so long. */
export function slowArguments(tool: JsonObject, ms: number): JsonObject | undefined {
  return fitting(tool, knownTool(tool)?.slow?.(ms));
}

/** What changes when it is called; those that are known need no arguments. */
export function changesOf(tool: JsonObject): ListChanges | undefined {
  const schema = tool['inputSchema'];
  const required = isJsonObject(schema) ? schema['required'] : undefined;
  return Array.isArray(required) && required.length > 0 ? undefined : knownTool(tool)?.changes;
}

function knownTool(tool: JsonObject): KnownTool | undefined {
  const name = String(tool['name']);
  return Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
}

/** Another tool may have the same name: then its arguments have others. */
function fitting(tool: JsonObject, args: JsonObject | undefined): JsonObject | undefined {
  const schema = tool['inputSchema'];
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  if (!args || !isJsonObject(properties)) return undefined;
  return Object.keys(args).every((name) => isJsonObject(properties[name])) ? args : undefined;
}
