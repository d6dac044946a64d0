import * as core from '@modelcontextprotocol/core';
import * as v1 from '@modelcontextprotocol/sdk/types.js';
import type { Json, Revision } from './revision.js';

interface ZodLike {
  safeParse(value: unknown): {
    success: boolean;
    data?: unknown;
    error?: { message: string } | undefined;
  };
}

/** The zod schemas that an official package publishes for what a server sends. */
interface Package {
  readonly name: string;
  readonly message: ZodLike;
  /** By the method that was called. */
  readonly results: Record<string, ZodLike>;
  readonly request: ZodLike;
  readonly notification: ZodLike;
}

type Shared = typeof core | typeof v1;

/** The ones that both packages have. */
function packageOf(name: string, types: Shared, further: Record<string, ZodLike> = {}): Package {
  return {
    name,
    message: types.JSONRPCMessageSchema,
    results: {
      initialize: types.InitializeResultSchema,
      ping: types.EmptyResultSchema,
      'tools/list': types.ListToolsResultSchema,
      'tools/call': types.CallToolResultSchema,
      'resources/list': types.ListResourcesResultSchema,
      'resources/templates/list': types.ListResourceTemplatesResultSchema,
      'resources/read': types.ReadResourceResultSchema,
      'resources/subscribe': types.EmptyResultSchema,
      'resources/unsubscribe': types.EmptyResultSchema,
      'prompts/list': types.ListPromptsResultSchema,
      'prompts/get': types.GetPromptResultSchema,
      'completion/complete': types.CompleteResultSchema,
      'logging/setLevel': types.EmptyResultSchema,
      ...further,
    },
    request: types.ServerRequestSchema,
    notification: types.ServerNotificationSchema,
  };
}

const V1 = packageOf('sdk 1.x', v1);
const CORE = packageOf('core 2.x', core, {
  'server/discover': core.DiscoverResultSchema,
  'subscriptions/listen': core.SubscriptionsListenResultSchema,
});

/** Neither package has a set per revision: 1.x is legacy up to 2025-11-25, 2.x that and 2026-07-28. */
const PACKAGES: Record<Revision, readonly Package[]> = {
  '2024-11-05': [V1],
  '2025-03-26': [V1],
  '2025-06-18': [V1],
  '2025-11-25': [V1, CORE],
  '2026-07-28': [CORE],
};

/**
 * What the zod schemas of the official packages find wrong with a frame of a server: shapes, types and value
 * ranges. They are lenient with members that they do not know, but most drop them: one that is gone after
 * parsing is a problem, too. Which revision knows a member is not theirs to say.
 */
export function zodProblems(frame: Json, asked: string | undefined, revision: Revision): string[] {
  return PACKAGES[revision].flatMap((official) =>
    packageProblems(official, frame, asked).map((problem) => `${official.name}: ${problem}`),
  );
}

function packageProblems(official: Package, frame: Json, asked: string | undefined): string[] {
  const found = failures('frame', official.message, frame);
  const result = frame['result'] as Json | undefined;
  if (result !== undefined) {
    if (result['resultType'] === 'input_required') found.push(...roundProblems(official, result));
    else found.push(...failures('result', official.results[String(asked)] ?? NEVER, result));
  } else if (typeof frame['method'] === 'string') {
    const { jsonrpc, id, ...message } = frame;
    found.push(...failures('message', id === undefined ? official.notification : official.request, message));
  }
  return found;
}

/** No package publishes a schema for the interim result of a round, but for the questions in it. */
function roundProblems(official: Package, result: Json): string[] {
  return Object.entries((result['inputRequests'] ?? {}) as Record<string, Json>).flatMap(
    ([key, question]) => {
      const params = question['params'] as Json | undefined;
      // Url mode has lost its id with 2026-07-28; the schema still demands it.
      const asLegacy = params?.['mode'] === 'url' ? { ...params, elicitationId: 'any' } : params;
      return failures(`inputRequests.${key}`, official.request, {
        ...question,
        ...(asLegacy && { params: asLegacy }),
      });
    },
  );
}

const NEVER: ZodLike = {
  safeParse: () => ({ success: false, error: { message: 'answers no request of a known method' } }),
};

function failures(what: string, schema: ZodLike, value: unknown): string[] {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return [`${what}: ${parsed.error?.message}`];
  return dropped(value, parsed.data, what)
    .filter((path) => !OVERLOOKED.test(path))
    .map((path) => `${path} is unknown`);
}

/** Both packages leave out the title of a prompt's argument, which came with 2025-06-18. */
const OVERLOOKED = /^result\.prompts\.\d+\.arguments\.\d+\.title$/;

/** The paths of what is in the one, but not in the other. */
function dropped(before: unknown, after: unknown, path: string): string[] {
  if (typeof before !== 'object' || before === null) return [];
  if (typeof after !== 'object' || after === null) return [path];
  return Object.entries(before).flatMap(([key, value]) =>
    Object.hasOwn(after, key) ? dropped(value, (after as Json)[key], `${path}.${key}`) : [`${path}.${key}`],
  );
}
