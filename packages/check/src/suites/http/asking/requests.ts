import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckRequestOptions } from '../../../conversation/conversation.js';
import { CLIENT_INFO, legacyCapabilities, modernParams } from '../../../conversation/envelope.js';
import { legacyHeaders } from '../../../conversation/http-legacy-conversation.js';
import { modernHeaders } from '../../../conversation/http-modern-conversation.js';
import type { CheckContext } from '../../../run/check-context.js';

export interface BareRequest {
  readonly body: {
    readonly jsonrpc: '2.0';
    readonly id: string | number;
    readonly method: string;
    readonly params: JsonObject;
  };
  readonly headers: Readonly<Record<string, string>>;
}

/** A modern request as it should be, to be spoiled by whoever asked for it. */
export function modernRequest(
  table: CheckContext,
  method = 'server/discover',
  params: JsonObject = {},
  options: CheckRequestOptions = {},
): BareRequest {
  const facts = table.factsOf('modern') ?? table.facts;
  const schemas = new Map(facts.tools.map((tool) => [String(tool['name']), tool['inputSchema']]));
  const body = {
    jsonrpc: '2.0' as const,
    id: options.id ?? 1,
    method,
    params: modernParams(params, facts.revision, options),
  };
  return { body, headers: modernHeaders(body, facts.revision, schemas) };
}

export function initializeRequest(
  table: CheckContext,
  revision?: string,
  id: string | number = 1,
): BareRequest {
  const facts = table.factsOf('legacy') ?? table.facts;
  const protocolVersion = revision ?? facts.revision;
  return {
    body: {
      jsonrpc: '2.0',
      id,
      method: 'initialize',
      params: { protocolVersion, capabilities: legacyCapabilities(protocolVersion), clientInfo: CLIENT_INFO },
    },
    headers: legacyHeaders(undefined, undefined),
  };
}

/** A request that a server of that era answers without having heard of us. */
export function openingRequest(
  table: CheckContext,
  era: Era = table.era,
  id: string | number = 1,
): BareRequest {
  return era === 'modern'
    ? modernRequest(table, 'server/discover', {}, { id })
    : initializeRequest(table, undefined, id);
}

export interface NamedRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** Modern requests with a name in their headers that are known to be served, at most one of each method. */
export function namedRequests(table: CheckContext): readonly NamedRequest[] {
  const served = table.facts.tour.filter(
    ({ reply }) => reply.kind === 'result' && reply.result['resultType'] !== 'input_required',
  );
  const named = ['resources/read', 'prompts/get', 'tools/call'].flatMap((method) => {
    const [quickest] = served
      .filter((stop) => stop.method === method)
      .sort((one, other) => one.reply.ms - other.reply.ms);
    return quickest ? [{ method, params: quickest.params }] : [];
  });
  if (named.length > 0) return named;
  return table.skip(
    'nothing that has a name (a resource, a prompt, a tool that may be called) gave a result',
  );
}

/** What stands in `Mcp-Name`. */
export function nameOf({ method, params }: NamedRequest): string {
  return String(method === 'resources/read' ? params['uri'] : params['name']);
}
