import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Middle } from './mutant.js';

/** A request as it went by. */
export interface Passing {
  readonly id: unknown;
  readonly method: string;
  readonly params: JsonObject;
}

/** The demo, but for what becomes of its answers. Nothing returned leaves one as it was. */
export function changing(
  change: (answer: JsonObject, request: Passing) => JsonObject | readonly JsonObject[] | undefined,
): () => Middle {
  return () => {
    const asked = new Map<unknown, Passing>();
    return {
      incoming(message) {
        const { id, method, params } = message;
        if (typeof method === 'string' && id !== undefined)
          asked.set(id, { id, method, params: isJsonObject(params) ? params : {} });
        return message;
      },
      outgoing(message) {
        const request = message['method'] === undefined ? asked.get(message['id']) : undefined;
        return (request && change(message, request)) ?? message;
      },
    };
  };
}

/** The demo, but for the results of a method. */
export function changingResult(
  method: string,
  change: (result: JsonObject, params: JsonObject) => JsonObject,
): () => Middle {
  return changing((answer, request) =>
    request.method === method && isJsonObject(answer['result'])
      ? { ...answer, result: change(answer['result'], request.params) }
      : undefined,
  );
}

/** The demo, but for some requests, which it does not get to see. Nothing returned passes a request on. */
export function answering(
  answer: (request: Passing) => { readonly result: JsonObject } | { readonly error: unknown } | undefined,
): () => Middle {
  return () => ({
    incoming(message, io) {
      const { id, method, params } = message;
      const own =
        typeof method === 'string' && id !== undefined
          ? answer({ id, method, params: isJsonObject(params) ? params : {} })
          : undefined;
      if (!own) return message;
      io.reply({ jsonrpc: '2.0', id, ...own });
      return undefined;
    },
  });
}

/** What it says that it can do, less some of it; it does it all the same. */
export function hiding(...names: readonly string[]): () => Middle {
  const without = (result: JsonObject) => ({
    ...result,
    capabilities: Object.fromEntries(
      Object.entries(isJsonObject(result['capabilities']) ? result['capabilities'] : {}).filter(
        ([name]) => !names.includes(name),
      ),
    ),
  });
  return changing((answer, { method }) =>
    (method === 'initialize' || method === 'server/discover') && isJsonObject(answer['result'])
      ? { ...answer, result: without(answer['result']) }
      : undefined,
  );
}
