import { invalidArgument, kindOf } from '../arguments.js';
import { ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject } from '../wire/json-rpc.js';
import type { CapabilitySettings, ClientCapabilities, ServerCapabilities } from '../wire/model.js';

/** Long-running calls as an extension of the modern era. The legacy era has the core capability `tasks` instead. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** MCP Apps: tools with a user interface. */
export const UI_EXTENSION = 'io.modelcontextprotocol/ui';
/** Instructions for models that a server offers as files. */
export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';

interface WithExtensions {
  extensions?: { [id: string]: CapabilitySettings };
}

/** The same capabilities without one extension, and without `extensions` if there is no other. */
export function withoutExtension<T extends WithExtensions>(capabilities: T, id: string): T {
  if (capabilities.extensions?.[id] === undefined) return capabilities;
  const { extensions, ...rest } = capabilities;
  const { [id]: _left, ...others } = extensions ?? {};
  return (Object.keys(others).length > 0 ? { ...rest, extensions: others } : rest) as T;
}

/** Whether the client of a modern request can be given a task (TASK-M-001). */
export function takesTasks({ extensions }: ClientCapabilities): boolean {
  return extensions?.[TASKS_EXTENSION] !== undefined;
}

/** Whether a server has the extension for tasks. */
export function hasTasks({ extensions }: ServerCapabilities): boolean {
  return extensions?.[TASKS_EXTENSION] !== undefined;
}

/** TASK-M-006, TASK-M-007: the client did not declare the extension for tasks with its request. */
export function tasksRequired(): ProtocolError {
  return new ProtocolError(
    ErrorCode.MissingClientCapability,
    `This request needs the client extension ${TASKS_EXTENSION}`,
    { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  );
}

/**
 * Declared to a server that several clients share, since it learns of capabilities only once. A server may offer more to
 * a client with a user interface. What it offers then is usable without one, too.
 */
export const SHARED_EXTENSIONS: NonNullable<ClientCapabilities['extensions']> = {
  [UI_EXTENSION]: { mimeTypes: ['text/html;profile=mcp-app'] },
};

/** Extensions by their id, with the settings of each. `{}`: no settings. */
export type Extensions = Readonly<Record<string, CapabilitySettings>>;

/** Throws unless each id has a prefix, and each entry is an object (VER-020, VER-023). */
export function checkExtensions(owner: string, extensions: Extensions | undefined): void {
  if (extensions === undefined) return;
  checkSettings(owner, 'extensions', extensions);
  const plain = Object.keys(extensions).find((id) => !/^[^/\s]+\/[^\s]+$/.test(id));
  if (plain !== undefined) {
    const message = `the id of an extension has a prefix, such as "com.example/${plain || 'name'}", got ${JSON.stringify(plain)}`;
    throw invalidArgument(`${owner}: ${message}`);
  }
}

/** Throws unless it is an object of objects. */
export function checkSettings(owner: string, option: string, settings: unknown): void {
  if (!isJsonObject(settings)) {
    throw invalidArgument(`${owner}: "${option}" must be an object, got ${kindOf(settings)}`);
  }
  for (const [name, value] of Object.entries(settings)) {
    if (isJsonObject(value)) continue;
    throw invalidArgument(
      `${owner}: ${option}[${JSON.stringify(name)}] must be an object of settings, got ${kindOf(value)}. Write {} where there are none`,
    );
  }
}
