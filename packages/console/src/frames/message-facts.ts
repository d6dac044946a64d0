import type {
  Decoded,
  DecodedMessage,
  JsonObject,
  JsonRpcMessage,
  RequestId,
} from '@isthmus/sdk/internal/wire/json-rpc.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { FrameKind } from '../contract.js';

/** What a row shows of a message. */
export interface MessageFacts {
  readonly kind: Extract<FrameKind, 'request' | 'result' | 'error' | 'notification' | 'batch' | 'noise'>;
  readonly method?: string | undefined;
  /** The tool, prompt or URI. */
  readonly about?: string | undefined;
  readonly id?: RequestId | undefined;
  readonly failed?: boolean | undefined;
  readonly problem?: string | undefined;
  /** The request that a notification is about, in its own direction (progress) or against it (cancelled). */
  readonly of?: { readonly id: RequestId; readonly isOfPeer: boolean } | undefined;
}

export function factsOf(message: JsonRpcMessage | Decoded): MessageFacts {
  if (!('kind' in message)) return factsOf(decodedOf(message));
  switch (message.kind) {
    case 'batch':
      return { kind: 'batch', failed: false };
    case 'invalid':
      return { kind: 'noise', problem: message.error.message, id: message.answers };
    case 'result':
      return { kind: 'result', id: message.id, failed: message.result['isError'] === true };
    case 'error':
      return { kind: 'error', id: message.id, failed: true };
    case 'request':
      return { kind: 'request', id: message.id, method: message.method, about: aboutOf(message.params) };
    case 'notification': {
      const { method, params = {} } = message;
      return { kind: 'notification', method, about: aboutOf(params), of: subjectOf(method, params) };
    }
  }
}

/** A message as it is written, in the form in which it is read. */
function decodedOf(message: JsonRpcMessage): DecodedMessage {
  if ('method' in message) {
    const { method, params } = message;
    const id = 'id' in message ? (message.id as RequestId) : undefined;
    return id === undefined
      ? { kind: 'notification', method, params }
      : { kind: 'request', id, method, params };
  }
  if ('result' in message) return { kind: 'result', id: message.id, result: message.result };
  return { kind: 'error', id: message.id, error: message.error };
}

function aboutOf(params: JsonObject | undefined): string | undefined {
  const about = params?.['name'] ?? params?.['uri'];
  return typeof about === 'string' ? about : undefined;
}

function subjectOf(method: string, params: JsonObject): MessageFacts['of'] {
  // Progress goes against its request; a cancellation goes the same way.
  const [id, isOfPeer] =
    method === 'notifications/progress'
      ? [params['progressToken'], true]
      : method === 'notifications/cancelled'
        ? [params['requestId'], false]
        : [subscriptionOf(params), true];
  return typeof id === 'string' || typeof id === 'number' ? { id, isOfPeer } : undefined;
}

/** Modern notifications of a subscription name its request. */
function subscriptionOf({ _meta }: JsonObject): unknown {
  return isJsonObject(_meta) ? _meta['io.modelcontextprotocol/subscriptionId'] : undefined;
}
