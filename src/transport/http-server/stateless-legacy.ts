import { isLegacyRevision } from '../../era/revisions.js';
import type { Decoded, JsonRpcMessage } from '../../wire/json-rpc.js';

/**
 * A POST of a legacy client that has no session. The handshake that the era demands is made in its name, and its
 * answer goes no further; the client has declared nothing, so it cannot be asked anything.
 */
export function asStateless(
  message: Decoded,
  revision: string | undefined,
): {
  readonly messages: readonly Decoded[];
  readonly swallow: ((answer: JsonRpcMessage) => boolean) | undefined;
  readonly expectsAnswer: boolean;
} {
  const expectsAnswer = message.kind === 'request' || message.kind === 'batch' || message.kind === 'invalid';
  if (message.kind === 'request' && message.method === 'initialize') {
    return { messages: [message], swallow: undefined, expectsAnswer };
  }
  const params = {
    // Without the header it is the revision that had none.
    protocolVersion: isLegacyRevision(revision) ? revision : '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'unknown', version: '0' },
  };
  return {
    messages: [
      { kind: 'request', id: HANDSHAKE, method: 'initialize', params },
      { kind: 'notification', method: 'notifications/initialized', params: undefined },
      message,
    ],
    swallow: (answer) => !('method' in answer) && answer.id === HANDSHAKE,
    expectsAnswer,
  };
}

/** No client has this id: it is a string that only we would think of. */
const HANDSHAKE = 'isthmus:handshake';
