import * as core from '@modelcontextprotocol/core';
import type { Json } from './official-schema.js';

interface ZodLike {
  safeParse(value: unknown): { success: boolean; error?: { message: string } | undefined };
}

const RESULTS: Record<string, ZodLike> = {
  initialize: core.InitializeResultSchema,
  ping: core.EmptyResultSchema,
  'server/discover': core.DiscoverResultSchema,
  'tools/list': core.ListToolsResultSchema,
  'tools/call': core.CallToolResultSchema,
  'resources/list': core.ListResourcesResultSchema,
  'resources/templates/list': core.ListResourceTemplatesResultSchema,
  'resources/read': core.ReadResourceResultSchema,
  'resources/subscribe': core.EmptyResultSchema,
  'resources/unsubscribe': core.EmptyResultSchema,
  'prompts/list': core.ListPromptsResultSchema,
  'prompts/get': core.GetPromptResultSchema,
  'completion/complete': core.CompleteResultSchema,
  'logging/setLevel': core.EmptyResultSchema,
  'subscriptions/listen': core.SubscriptionsListenResultSchema,
};

/**
 * The same question put to the zod schemas that `@modelcontextprotocol/core` 2.x publishes. They are one set
 * for 2025-11-25 and 2026-07-28 together, and tolerant; the client judges by its own set per revision, which
 * is not exported, and complains through `onerror`.
 */
export function zodProblems(frame: Json, asked: string | undefined): string[] {
  const found = [...failures('JSONRPCMessage', core.JSONRPCMessageSchema, frame)];
  const result = frame['result'] as Json | undefined;
  if (result !== undefined) {
    const schema = asked === undefined ? undefined : RESULTS[asked];
    // The package has no schema of its own for the interim result of a round.
    const interim = result['resultType'] === 'input_required';
    found.push(...failures(String(asked), interim ? core.ResultSchema : (schema ?? NEVER), result));
  } else if (typeof frame['method'] === 'string') {
    const { jsonrpc, id, ...message } = frame;
    found.push(
      ...(id === undefined
        ? failures(frame['method'], core.ServerNotificationSchema, message)
        : failures(frame['method'], core.ServerRequestSchema, message)),
    );
  }
  return found;
}

const NEVER: ZodLike = {
  safeParse: () => ({ success: false, error: { message: 'answers no request of a known method' } }),
};

function failures(what: string, schema: ZodLike, value: unknown): string[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : [`${what}: ${parsed.error?.message}`];
}
