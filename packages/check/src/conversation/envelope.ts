import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckRequestOptions } from './conversation.js';

/** The referee declares all capabilities, so that servers use all their features. */
export const EVERY_CAPABILITY: JsonObject = {
  roots: {},
  sampling: { tools: {} },
  elicitation: { form: {}, url: {} },
};

/** Legacy: `url` and `tools` came with 2025-11-25, `elicitation` with 2025-06-18. */
export function legacyCapabilities(revision: string): JsonObject {
  if (revision >= '2025-11-25') return { ...EVERY_CAPABILITY, roots: { listChanged: true } };
  if (revision >= '2025-06-18') return { roots: { listChanged: true }, sampling: {}, elicitation: {} };
  return { roots: { listChanged: true }, sampling: {} };
}

export const CLIENT_INFO = { name: 'isthmus-check', version: '1.0.0' };

/** The params of a modern request, with the required `_meta`. */
export function modernParams(params: JsonObject, revision: string, options: CheckRequestOptions): JsonObject {
  const meta: Record<string, unknown> = {
    ...(params['_meta'] as JsonObject | undefined),
    [META.protocolVersion]: revision,
    [META.clientCapabilities]: options.capabilities ?? EVERY_CAPABILITY,
    [META.clientInfo]: CLIENT_INFO,
    ...(options.logLevel !== undefined && { [META.logLevel]: options.logLevel }),
    ...(options.progressToken !== undefined && { progressToken: options.progressToken }),
    ...options.meta,
  };
  return { ...params, _meta: withoutUndefined(meta) };
}

/** The params of a legacy request; undefined if they would be empty. */
export function legacyParams(
  params: JsonObject | undefined,
  options: CheckRequestOptions,
): JsonObject | undefined {
  const meta = withoutUndefined({
    ...(params?.['_meta'] as JsonObject | undefined),
    ...(options.progressToken !== undefined && { progressToken: options.progressToken }),
    ...options.meta,
  });
  if (Object.keys(meta).length === 0) return params;
  return { ...params, _meta: meta };
}

function withoutUndefined(record: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

/** The first request of an era: `server/discover` or `initialize`. */
export function helloMessage(
  era: Era,
  revision: string,
  options: { readonly id?: RequestId; readonly capabilities?: JsonObject | undefined } = {},
) {
  const { id = 1, capabilities } = options;
  if (era === 'modern') {
    const params = modernParams({}, revision, { ...(capabilities && { capabilities }) });
    return { jsonrpc: '2.0', id, method: 'server/discover', params };
  }
  const params: JsonObject = {
    protocolVersion: revision,
    capabilities: capabilities ?? legacyCapabilities(revision),
    clientInfo: CLIENT_INFO,
  };
  return { jsonrpc: '2.0', id, method: 'initialize', params };
}
