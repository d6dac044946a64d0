import { isLegacyRevision } from '../../era/revisions.js';
import type { Decoded, JsonRpcErrorBody, JsonRpcMessage } from '../../wire/json-rpc.js';
import { batchProblem, contentsOf } from './batch.js';

/** A POST of a legacy client that has no session, as a connection of its own can take it. */
export type StatelessPost =
  | { readonly kind: 'refused'; readonly error: JsonRpcErrorBody }
  /** There is nothing to answer but what could not even be delivered. */
  | { readonly kind: 'done'; readonly refusals: readonly string[]; readonly isBatch: boolean }
  | {
      readonly kind: 'calls';
      readonly messages: readonly Decoded[];
      /** The answer to the handshake that was made in the client's name goes no further. */
      readonly swallow: ((answer: JsonRpcMessage) => boolean) | undefined;
      readonly batch: { readonly expected: number; readonly refusals: readonly string[] } | undefined;
    };

/**
 * The handshake that the era demands is made in the client's name; it has declared nothing, so it cannot be asked
 * anything.
 */
export function asStateless(message: Decoded, revision: string | undefined): StatelessPost {
  // Without the header it is the revision that had none.
  const protocolVersion = isLegacyRevision(revision) ? revision : '2025-03-26';
  const problem = batchProblem(message, protocolVersion);
  if (problem) return { kind: 'refused', error: problem };
  const { isBatch, requests, messages, refusals } = contentsOf(message);
  if (requests.length === 0) return { kind: 'done', refusals, isBatch };
  const batch = isBatch ? { expected: requests.length, refusals } : undefined;
  if (requests[0]!.method === 'initialize') return { kind: 'calls', messages, swallow: undefined, batch };
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'unknown', version: '0' } };
  return {
    kind: 'calls',
    messages: [
      { kind: 'request', id: HANDSHAKE, method: 'initialize', params },
      { kind: 'notification', method: 'notifications/initialized', params: undefined },
      ...messages,
    ],
    swallow: firstAnswerOf(HANDSHAKE),
    batch,
  };
}

/** Only the first: the client may use the same id. */
function firstAnswerOf(id: string): (answer: JsonRpcMessage) => boolean {
  let swallowed = false;
  return (answer) => {
    if (swallowed || 'method' in answer || answer.id !== id) return false;
    swallowed = true;
    return true;
  };
}

const HANDSHAKE = 'isthmus:handshake';
