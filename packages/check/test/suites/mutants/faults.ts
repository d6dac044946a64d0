import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckOptions } from '../../../src/index.js';
import type { Middle, StreamMutant } from '../../support/suites/mutant.js';

/** For mutants that say nothing: nobody has to wait long for that. */
export const SOON: CheckOptions = {
  patience: { helloMs: 10_000, answerMs: 700, quietMs: 100, checkMs: 10_000 },
};

/** Falls over at the first line that fits. */
export function dies(check: string, fault: string, fits: (line: string) => boolean): StreamMutant {
  return {
    check,
    fault: `dies of ${fault}`,
    seen: /was not answered: the connection ended/,
    middle: () => ({
      incomingLine(line, io) {
        if (!fits(line)) return line;
        io.destroy();
        return undefined;
      },
    }),
  };
}

/** Never hears the lines that fit. */
export function deaf(fits: (line: string) => boolean): () => Middle {
  return () => ({ incomingLine: (line) => (fits(line) ? undefined : line) });
}

export function isJson(line: string): boolean {
  return parse(line) !== undefined;
}

export function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export function paramsIn(message: JsonObject): JsonObject {
  return isJsonObject(message['params']) ? message['params'] : {};
}

export function metaIn(message: JsonObject): JsonObject {
  const meta = paramsIn(message)['_meta'];
  return isJsonObject(meta) ? meta : {};
}

export function errorFor(message: JsonObject, code: number, text = 'no'): JsonObject {
  return { jsonrpc: '2.0', id: message['id'], error: { code, message: text } };
}

export function resultFor(message: JsonObject, result: JsonObject = {}): JsonObject {
  return { jsonrpc: '2.0', id: message['id'], result };
}

/** Answers messages that fit by itself, and passes on the others. */
export function answersItself(
  fits: (message: JsonObject) => boolean,
  answer: (message: JsonObject) => JsonObject,
): () => Middle {
  return () => ({
    incoming(message, io) {
      if (!fits(message)) return message;
      io.reply(answer(message));
      return undefined;
    },
  });
}
