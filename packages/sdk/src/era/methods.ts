import type { ServerCapabilities } from '../wire/model.js';

/** What both eras know of a method that a service handles. */
export interface MethodFacts {
  /** Without this server capability the method counts as not implemented (ERR-015). */
  readonly capability: keyof ServerCapabilities;
  /** May be answered with `input_required` (MRTR-002, MRTR-003). */
  readonly rounds: boolean;
  /** A complete modern result carries `ttlMs` and `cacheScope` (CACHE-001). */
  readonly cacheable: boolean;
}

const METHODS = new Map<string, MethodFacts>([
  ['tools/list', { capability: 'tools', rounds: false, cacheable: true }],
  ['tools/call', { capability: 'tools', rounds: true, cacheable: false }],
  ['resources/list', { capability: 'resources', rounds: false, cacheable: true }],
  ['resources/templates/list', { capability: 'resources', rounds: false, cacheable: true }],
  ['resources/read', { capability: 'resources', rounds: true, cacheable: true }],
  ['prompts/list', { capability: 'prompts', rounds: false, cacheable: true }],
  ['prompts/get', { capability: 'prompts', rounds: true, cacheable: false }],
  ['completion/complete', { capability: 'completions', rounds: false, cacheable: false }],
]);

/** `undefined` for a method that the core protocol does not define in both eras. */
export function methodFacts(method: string): MethodFacts | undefined {
  return METHODS.get(method);
}

/** Results of extensions that carry `ttlMs` and `cacheScope` in the modern era, like those of the core. */
const CACHEABLE_FOREIGN: ReadonlySet<string> = new Set([
  'skills/list',
  'skills/get',
  'resources/directory/read',
]);

/** Whether a complete modern result of this method carries `ttlMs` and `cacheScope` (CACHE-001, SEP-2640). */
export function isCacheable(method: string, facts: MethodFacts | undefined): boolean {
  return facts ? facts.cacheable : CACHEABLE_FOREIGN.has(method);
}

/** A method of the core protocol that a server with these capabilities implements (ERR-015). */
export function isDeclared(method: string, capabilities: ServerCapabilities): boolean {
  const facts = METHODS.get(method);
  return facts !== undefined && Boolean(capabilities[facts.capability]);
}

/** Methods that only the legacy era has; modern answers them with -32601 (PING-004, wire sheet §3). */
const LEGACY_ONLY = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/list',
  'tasks/result',
]);

export function isLegacyOnly(method: string): boolean {
  return LEGACY_ONLY.has(method);
}

/** Methods that only the modern era has. */
export function isModernOnly(method: string): boolean {
  return method === 'server/discover' || method === 'subscriptions/listen';
}

/** A notification that the core protocol defines in no era. An extension may. */
export function isForeignNotification(method: string): boolean {
  return !CORE_NOTIFICATIONS.has(method);
}

const CORE_NOTIFICATIONS: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/roots/list_changed',
  'notifications/elicitation/complete',
  'notifications/subscriptions/acknowledged',
  'notifications/tasks',
  'notifications/tasks/status',
]);
