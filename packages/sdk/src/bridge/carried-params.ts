import { META } from '../era/meta-keys.js';
import type { Call, Era } from '../exchange/call.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** The `_meta` key by which a modern client names one of several conversations that it has with the same server. */
export const CONVERSATION = 'isthmus/conversation';

/** The params of a call without what belongs to the near hop alone. */
export function carriedParams({ params, peer }: Call, far: Era): JsonObject {
  const carried: JsonObject = {};
  for (const key in params) {
    if (!OF_THE_HOP.has(key)) carried[key] = params[key];
  }
  const meta = carriedMeta(params['_meta']);
  if (meta) carried['_meta'] = meta;
  if (carried['cursor'] === EMPTY_CURSOR && peer.era === 'legacy' && far === 'modern') carried['cursor'] = '';
  return carried;
}

/** PAGE-004: an empty string is a cursor in the modern era; legacy clients take it for the end. */
export function carriedPage(result: JsonObject): JsonObject {
  return result['nextCursor'] === '' ? { ...result, nextCursor: EMPTY_CURSOR } : result;
}

/** Which of its conversations a modern client means, if it says so. */
export function conversationOf({ params }: Call): string | undefined {
  const meta = params['_meta'];
  const name = isJsonObject(meta) ? meta[CONVERSATION] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function carriedMeta(meta: unknown): JsonObject | undefined {
  if (!isJsonObject(meta)) return undefined;
  let carried: JsonObject | undefined;
  for (const key in meta) {
    if (ENVELOPE.has(key)) continue;
    carried ??= {};
    carried[key] = meta[key];
  }
  return carried;
}

/** A client was told of no tasks: what it says about them is ignored (TASK-004). */
const OF_THE_HOP: ReadonlySet<string> = new Set(['_meta', 'inputResponses', 'requestState', 'task']);

const ENVELOPE: ReadonlySet<string> = new Set([
  ...[META.protocolVersion, META.clientInfo, META.clientCapabilities, META.logLevel],
  'progressToken',
  CONVERSATION,
]);

const EMPTY_CURSOR = 'isthmus:empty';
