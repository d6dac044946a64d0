import { isThenable } from '@isthmus/sdk/internal/async/deferred.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, HandledResult, Peer, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { instructionsOf } from '@isthmus/sdk/internal/exchange/instructions-of.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { deriveCall } from '../pipeline/derive.js';
import { deriveService } from '../pipeline/derive-service.js';
import type { AccessCaller, AccessPolicy } from './access-policy.js';
import { GuardedListening } from './guarded-listening.js';
import type { ToolHints } from './tool-hints.js';

export interface EnforceAccessInputs {
  readonly server: string;
  readonly access?: AccessPolicy | undefined;
  readonly hints?: ToolHints | undefined;
}

/**
 * Applies the access rules to the calls of one server, on every transport and behind the aggregate. A tool that is denied is
 * not listed, and a call to it fails as if it did not exist. An HTTP endpoint has checked the scopes before, where it knew
 * the server; this is the check for all others.
 */
export function enforceAccess(inner: Service, { server, access, hints }: EnforceAccessInputs): Service {
  if (!access || !hints) return inner;
  const stage = new AccessStage(inner, server, access, hints);
  const listening = new GuardedListening(inner, server, access);
  return deriveService(inner, {
    handle: (call) => (access.isEmpty ? inner.handle(call) : stage.handle(call)),
    instructionsFor: (peer) =>
      access.isEmpty || stage.isOpenTo(peer) ? instructionsOf(inner, peer) : undefined,
    listen: inner.listen && ((peer, wanted, onChange) => listening.listen(peer, wanted, onChange)),
    session: inner.session && ((session) => listening.session(session)),
    notify:
      inner.notify &&
      ((notification, peer) => {
        const caller = { principal: peer.principal, scopes: peer.scopes };
        if (access.allowsEntry(caller, server)) inner.notify!(notification, peer);
      }),
  });
}

class AccessStage {
  readonly #inner: Service;
  readonly #server: string;
  readonly #access: AccessPolicy;
  readonly #hints: ToolHints;

  constructor(inner: Service, server: string, access: AccessPolicy, hints: ToolHints) {
    this.#inner = inner;
    this.#server = server;
    this.#access = access;
    this.#hints = hints;
  }

  handle(call: Call): HandledResult {
    const caller = { principal: call.peer.principal, scopes: call.request?.scopes };
    const { method } = call;
    const tool = method === 'tools/call' ? String(call.params['name']) : undefined;
    if (!this.#isAllowed(caller, method, tool)) return this.#denied(method, tool);
    if (!this.#access.hasScopes || caller.principal === undefined) return this.#pass(call, caller);
    const scopes = this.#access.scopesOf(this.#server);
    const needed = scopes.neededFor(method, tool, () => this.#hints.isReadOnly(tool!));
    if (needed) return this.#withScopes(call, caller, needed);
    // Whether the tool only reads is not known yet.
    const list = (params: JsonObject) =>
      this.#inner.handle(deriveCall(call, { method: 'tools/list', params, isSilent: true }));
    return this.#hints.read(list, caller.principal).then(() => {
      const isReadOnly = () => this.#hints.isReadOnly(tool!) ?? false;
      return this.#withScopes(call, caller, scopes.neededFor(method, tool, isReadOnly)!) as JsonObject;
    });
  }

  /** Whether the client may know what the server is, in the list of all servers. */
  isOpenTo({ principal, scopes, era }: Peer): boolean {
    const access = this.#access;
    const caller = { principal, scopes };
    if (!access.allowsEntry(caller, this.#server)) return false;
    const method = era === 'legacy' ? 'initialize' : 'server/discover';
    const needed = access.scopesOf(this.#server).neededFor(method, undefined, () => undefined);
    return access.covers(caller, needed ?? []);
  }

  #isAllowed(caller: AccessCaller, method: string, tool: string | undefined): boolean {
    const access = this.#access;
    if (tool !== undefined) return access.allowsTool(caller, this.#server, tool);
    return ENTRIES.has(method)
      ? access.allowsEntry(caller, this.#server)
      : access.allowsRest(caller, this.#server);
  }

  #denied(method: string, tool: string | undefined): HandledResult {
    if (tool !== undefined) {
      return Promise.reject(new ProtocolError(ErrorCode.InvalidParams, `Unknown tool: ${tool}`, DENIED));
    }
    const list = LISTS[method];
    if (list !== undefined) return { [list]: [], ...PRIVATE };
    const message = `${this.#server} is not open to this caller`;
    return Promise.reject(new ProtocolError(ErrorCode.InternalError, message, DENIED));
  }

  #withScopes(call: Call, caller: AccessCaller, needed: readonly string[]): HandledResult {
    if (this.#access.covers(caller, needed)) return this.#pass(call, caller);
    const list = LISTS[call.method];
    // In the list of all servers, those that the token does not open are missing.
    if (list !== undefined) return { [list]: [], ...PRIVATE };
    const data = { reason: 'INSUFFICIENT_SCOPE', sent: 'no', server: this.#server, scopes: [...needed] };
    const message = `The token needs the scopes ${needed.join(' ')}`;
    return Promise.reject(new ProtocolError(ErrorCode.InternalError, message, data));
  }

  #pass(call: Call, caller: AccessCaller): HandledResult {
    const result = this.#inner.handle(call);
    if (call.method !== 'tools/list') return result;
    const select = (list: JsonObject) => this.#selected(list, caller);
    return isThenable(result) ? result.then(select) : select(result);
  }

  #selected(list: JsonObject, caller: AccessCaller): JsonObject {
    const access = this.#access;
    if (access.hasScopes) this.#hints.learn(list);
    const { tools } = list;
    if (!access.hasRules || !Array.isArray(tools)) return list;
    const shown = tools.filter(
      (tool) => isJsonObject(tool) && access.allowsTool(caller, this.#server, String(tool['name'])),
    );
    return { ...list, tools: shown, ...(list['cacheScope'] !== undefined && PRIVATE) };
  }
}

/** What a caller may do that may use any tool of the server. */
const ENTRIES: ReadonlySet<string> = new Set([
  ...['initialize', 'ping', 'server/discover', 'tools/list', 'logging/setLevel', 'subscriptions/listen'],
  // A task belongs to the caller that has made it.
  ...['tasks/get', 'tasks/result', 'tasks/list', 'tasks/update', 'tasks/cancel'],
]);

const LISTS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
});

const DENIED = { reason: 'DENIED', sent: 'no' };
/** Others may see more, so the result must not be shared (AUTH-G-010). */
const PRIVATE = { cacheScope: 'private' };
