import { encodeMessage } from '../../../wire/codec.js';
import { ErrorCode } from '../../../wire/error-codes.js';
import {
  type Decoded,
  type DecodedRequest,
  errorMessage,
  type JsonRpcErrorBody,
  type JsonRpcMessage,
} from '../../../wire/json-rpc.js';

/** The contents of a POST: one message, or in revision 2025-03-26 several. */
export interface Contents {
  readonly isBatch: boolean;
  /** Each gets one answer. */
  readonly requests: readonly DecodedRequest[];
  /** All messages to deliver, in order. */
  readonly messages: readonly Decoded[];
  /** Errors for what cannot be delivered: invalid messages and repeated ids. */
  readonly refusals: readonly string[];
}

export function contentsOf(message: Decoded): Contents {
  const isBatch = message.kind === 'batch';
  const requests: DecodedRequest[] = [];
  const messages: Decoded[] = [];
  const refusals: string[] = [];
  const ids = new Set<unknown>();
  for (const item of isBatch ? message.items : [message]) {
    if (item.kind === 'invalid') refusals.push(encodeMessage(errorMessage(item.id, item.error)));
    else if (item.kind === 'request' && ids.has(item.id)) {
      refusals.push(encodeMessage(errorMessage(item.id, inFlight(item.id))));
    } else {
      messages.push(item);
      if (item.kind !== 'request') continue;
      ids.add(item.id);
      requests.push(item);
    }
  }
  return { isBatch, requests, messages, refusals };
}

export function inFlight(id: unknown): JsonRpcErrorBody {
  return {
    code: ErrorCode.InvalidRequest,
    message: `A request with id ${JSON.stringify(id)} is still in flight`,
  };
}

/** JRPC-017, JRPC-019: only one revision has batches, and one POST must not cause a flood of answers. */
export function batchProblem(message: Decoded, revision: string | undefined): JsonRpcErrorBody | undefined {
  if (message.kind !== 'batch') return undefined;
  if (revision !== '2025-03-26') return refusal('batches exist only in revision 2025-03-26');
  return message.items.length > MAX_BATCH
    ? refusal(`a batch holds at most ${MAX_BATCH} messages`)
    : undefined;
}

/** The revision in an answer. The first answer that has one is the answer to `initialize`. */
export function revisionIn(message: JsonRpcMessage): string | undefined {
  const revision = 'result' in message ? message.result['protocolVersion'] : undefined;
  return typeof revision === 'string' ? revision : undefined;
}

function refusal(why: string): JsonRpcErrorBody {
  return { code: ErrorCode.InvalidRequest, message: `Invalid request: ${why}` };
}

const MAX_BATCH = 1000;
