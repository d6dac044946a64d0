import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Middle } from './mutant.js';

/** A middle that changes what the demo answers to a method; nothing returned is no answer. */
export function changeAnswer(
  method: string,
  change: (answer: JsonObject, request: JsonObject) => JsonObject | undefined,
): () => Middle {
  return () => {
    const asked = new Map<unknown, JsonObject>();
    return {
      incoming(message) {
        if (message['method'] === method) asked.set(message['id'], message);
        return message;
      },
      outgoing(message) {
        const request = message['method'] === undefined ? asked.get(message['id']) : undefined;
        return request ? change(message, request) : message;
      },
    };
  };
}

/** The same for its result; errors pass as they are. */
export function changeResult(
  method: string,
  change: (result: JsonObject, params: JsonObject) => JsonObject,
): () => Middle {
  return changeAnswer(method, (answer, request) => {
    const params = isJsonObject(request['params']) ? request['params'] : {};
    return isJsonObject(answer['result']) ? { ...answer, result: change(answer['result'], params) } : answer;
  });
}

/** A middle that answers a method itself. */
export function answerInstead(method: string, answer: (request: JsonObject) => JsonObject): () => Middle {
  return () => ({
    incoming(message, io) {
      if (message['method'] !== method) return message;
      io.reply({ jsonrpc: '2.0', id: message['id'], ...answer(message) });
      return undefined;
    },
  });
}
