import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckRequestOptions } from '../../../conversation/conversation.js';
import { CLIENT_INFO, legacyCapabilities, modernParams } from '../../../conversation/envelope.js';
import { legacyHeaders } from '../../../conversation/http-legacy-conversation.js';
import { modernHeaders } from '../../../conversation/http-modern-conversation.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { WalkthroughStop } from '../../../survey/facts.js';
import type { PeerHttpAnswer } from '../../../wire/http-peer.js';
import { paramsOf } from '../../../wire/transcript.js';

export interface BareRequest {
  readonly body: {
    readonly jsonrpc: '2.0';
    readonly id: string | number;
    readonly method: string;
    readonly params: JsonObject;
  };
  readonly headers: Readonly<Record<string, string>>;
}

/** A valid modern request, which a check may then change. */
export function modernRequest(
  context: CheckContext,
  method = 'server/discover',
  params: JsonObject = {},
  options: CheckRequestOptions = {},
): BareRequest {
  const facts = context.factsOf('modern') ?? context.facts;
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
  context: CheckContext,
  revision?: string,
  id: string | number = 1,
): BareRequest {
  const facts = context.factsOf('legacy') ?? context.facts;
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

/** A request that a server of that era answers as the first one. */
export function openingRequest(
  context: CheckContext,
  era: Era = context.era,
  id: string | number = 1,
): BareRequest {
  return era === 'modern'
    ? modernRequest(context, 'server/discover', {}, { id })
    : initializeRequest(context, undefined, id);
}

export interface NamedRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** Successful modern requests of the survey that need `Mcp-Name`, at most one of each method. */
export function namedRequests(context: CheckContext): readonly NamedRequest[] {
  const served = context.facts.walkthrough.filter(
    ({ reply }) => reply.kind === 'result' && reply.result['resultType'] !== 'input_required',
  );
  const named = ['resources/read', 'prompts/get', 'tools/call'].flatMap((method) => {
    const [quickest] = served
      .filter((stop) => stop.method === method)
      .sort((one, other) => one.reply.ms - other.reply.ms);
    return quickest ? [{ method, params: quickest.params }] : [];
  });
  if (named.length > 0) return named;
  return context.skip('no resource, prompt or callable tool returned a result');
}

/** The value of `Mcp-Name`. */
export function nameOf({ method, params }: NamedRequest): string {
  return String(method === 'resources/read' ? params['uri'] : params['name']);
}

/** The quickest call that reported progress during the survey. Skips if there is none. */
export function reportingCall(context: CheckContext): WalkthroughStop {
  return reportingCalls(context)[0]!;
}

/** The slowest call that reported progress, for checks that disconnect during a call. */
export function longestCall(context: CheckContext): WalkthroughStop {
  return reportingCalls(context).at(-1)!;
}

function reportingCalls(context: CheckContext): readonly WalkthroughStop[] {
  const calls = context.facts.walkthrough
    .filter(({ method, reply, questions }) => {
      if (method !== 'tools/call' || reply.kind !== 'result' || questions.length > 0) return false;
      if (reply.result['resultType'] === 'input_required') return false;
      return reply.notifications.some((frame) => frame.method === 'notifications/progress');
    })
    .sort((one, other) => one.reply.ms - other.reply.ms);
  return calls.length > 0 ? calls : context.skip('no tool that may be called reports progress');
}

/** The event streams of the survey. Skips if there are none. */
export function streamsOf(
  context: CheckContext,
): readonly { readonly stop: WalkthroughStop; readonly http: PeerHttpAnswer }[] {
  const streams = context.facts.walkthrough.flatMap((stop) => {
    const { http } = stop.reply;
    return http?.isStream && stop.reply.kind !== 'silence' ? [{ stop, http }] : [];
  });
  return streams.length > 0 ? streams : context.skip('no answer was an event stream');
}

/** A request of the survey in a few words: `tools/call of echo`. */
export function describeStop({ method, params }: WalkthroughStop): string {
  return `${method} of ${String(params['name'] ?? params['uri'])}`;
}

export function progressTokens(http: Pick<PeerHttpAnswer, 'frames'>): unknown[] {
  return http.frames
    .filter((frame) => frame.method === 'notifications/progress')
    .map((frame) => paramsOf(frame)['progressToken']);
}
