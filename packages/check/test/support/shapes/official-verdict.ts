import * as core from '@modelcontextprotocol/core';
import * as v1 from '@modelcontextprotocol/sdk/types.js';

interface Zod {
  safeParse(value: unknown): { success: boolean; error?: { message: string } | undefined };
}

/** What an official package thinks of a message of a server: `undefined`, or why not. */
export interface Official {
  result(method: string, value: unknown): string | undefined;
  notification(method: string, params: unknown): string | undefined;
  request(method: string, params: unknown): string | undefined;
}

export const V1 = official(v1);
export const CORE = official(core);

function official(types: typeof core | typeof v1): Official {
  const results: Record<string, Zod> = {
    'tools/list': types.ListToolsResultSchema,
    'tools/call': types.CallToolResultSchema,
    'resources/list': types.ListResourcesResultSchema,
    'resources/templates/list': types.ListResourceTemplatesResultSchema,
    'resources/read': types.ReadResourceResultSchema,
    'prompts/list': types.ListPromptsResultSchema,
    'prompts/get': types.GetPromptResultSchema,
    'completion/complete': types.CompleteResultSchema,
  };
  const why = (schema: Zod, value: unknown) => schema.safeParse(value).error?.message;
  return {
    result: (method, value) => why(results[method]!, value),
    notification: (method, params) => why(types.ServerNotificationSchema, { method, params }),
    request: (method, params) => why(types.ServerRequestSchema, { method, params }),
  };
}
