import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject, type JsonRpcErrorBody } from '../../wire/json-rpc.js';
import type { ClientCapabilities, Implementation, ServerCapabilities } from '../../wire/model.js';
import { TASKS_EXTENSION, withoutExtension } from '../extensions.js';
import { isAtLeast, type LegacyRevision, negotiateLegacy } from '../revisions.js';

/** What `initialize` fixes for the life of the connection. */
export interface Handshake {
  readonly revision: LegacyRevision;
  readonly info: Implementation;
  readonly capabilities: ClientCapabilities;
}

/** INIT-002: all three members are required. The version is negotiated, never refused (INIT-010). */
export function readInitialize(params: JsonObject | undefined): Handshake | JsonRpcErrorBody {
  const version = params?.['protocolVersion'];
  if (typeof version !== 'string') return invalid('initialize needs a string protocolVersion');
  const capabilities = params?.['capabilities'];
  if (!isJsonObject(capabilities)) return invalid('initialize needs a capabilities object');
  const info = params?.['clientInfo'];
  if (!isJsonObject(info) || typeof info['name'] !== 'string' || typeof info['version'] !== 'string') {
    return invalid('initialize needs clientInfo with a string name and version');
  }
  return {
    revision: negotiateLegacy(version),
    info: info as unknown as Implementation,
    capabilities: capabilities as ClientCapabilities,
  };
}

/** The declared capabilities that the revision of the session has. */
export function usableCapabilities(
  declared: ClientCapabilities,
  revision: LegacyRevision,
): ClientCapabilities {
  const { elicitation, sampling, ...rest } = declared;
  const usable: ClientCapabilities = { ...rest };
  if (isAtLeast(revision, '2025-11-25')) {
    if (elicitation) usable.elicitation = elicitation;
    if (sampling) usable.sampling = sampling;
    return usable;
  }
  if (elicitation && isAtLeast(revision, '2025-06-18')) usable.elicitation = {};
  // Before 2025-11-25 `includeContext` needed no capability of its own.
  if (sampling) usable.sampling = { context: {} };
  return usable;
}

/** `title` since 2025-06-18; `description`, `icons`, `websiteUrl` since 2025-11-25. */
export function projectImplementation(info: Implementation, revision: LegacyRevision): JsonObject {
  if (isAtLeast(revision, '2025-11-25')) return info as unknown as JsonObject;
  const { name, version, title } = info;
  return isAtLeast(revision, '2025-06-18') && title !== undefined
    ? { name, version, title }
    : { name, version };
}

/**
 * 2024-11-05 has no `completions` capability. Extensions may be declared in all revisions; that of tasks belongs to the
 * modern era (TASK-M-009).
 */
export function projectCapabilities(
  capabilities: ServerCapabilities,
  revision: LegacyRevision,
  principal?: string,
): JsonObject {
  const { completions, tasks, ...rest } = withoutExtension(capabilities, TASKS_EXTENSION);
  return {
    ...rest,
    ...(completions && isAtLeast(revision, '2025-03-26') && { completions }),
    ...(tasks && isAtLeast(revision, '2025-11-25') && { tasks: projectTasks(tasks, principal) }),
  };
}

/** TASK-L-092: tasks are listed for an authenticated principal only. */
function projectTasks(tasks: JsonObject, principal: string | undefined): JsonObject {
  const { list, ...rest } = tasks;
  return principal === undefined || list === undefined ? rest : tasks;
}

/** The capabilities of a connection that ends with its requests: without later notifications. */
export function withoutNews(capabilities: ServerCapabilities): ServerCapabilities {
  const kept: ServerCapabilities = { ...capabilities };
  for (const kind of ['tools', 'prompts', 'resources'] as const) {
    if (!capabilities[kind]) continue;
    const { listChanged, subscribe, ...rest } = capabilities[kind] as JsonObject;
    kept[kind] = rest;
  }
  return kept;
}

function invalid(message: string): JsonRpcErrorBody {
  return { code: ErrorCode.InvalidParams, message };
}
