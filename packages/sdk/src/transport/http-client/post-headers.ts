import { encodeHeaderValue, routingName } from '../../era/modern/headers.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { ToolHeaders } from './tool-headers.js';

/** What every POST says of itself (HTTP-007). */
export const POST_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const;

/** What a modern request repeats of its body (HTTP-026 … HTTP-031, HTTP-039). */
export function modernHeaders(
  request: { readonly method: string; readonly params?: JsonObject },
  revision: string,
  tools: ToolHeaders,
): Record<string, string> {
  const { method, params } = request;
  const name = routingName(method, params) ?? taskOf(method, params);
  return {
    ...POST_HEADERS,
    'mcp-protocol-version': encodeHeaderValue(revision),
    'mcp-method': encodeHeaderValue(method),
    ...(name !== undefined && { 'mcp-name': encodeHeaderValue(name) }),
    ...(method === 'tools/call' && tools.of(params)),
  };
}

export function sameHeaders(a: Record<string, string>, b: Record<string, string>): boolean {
  return Object.keys({ ...a, ...b }).every((name) => a[name] === b[name]);
}

/** The tasks extension routes by the task (HTTP-075). */
function taskOf(method: string, params: JsonObject | undefined): string | undefined {
  const taskId = /^tasks\/(get|update|cancel)$/.test(method) ? params?.['taskId'] : undefined;
  return typeof taskId === 'string' ? taskId : undefined;
}
