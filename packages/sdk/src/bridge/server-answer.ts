import { ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import { markForClient } from './upstream-errors.js';

/**
 * The error when a legacy server failed a call because the client could not be asked. It names the missing capability
 * (META-008), and has the answer of the server in `data.serverAnswer`: a bridge in front of this one may serve a legacy
 * client, which has to get that answer.
 */
export function refusedFor(refusal: ProtocolError, answer: unknown): ProtocolError {
  if (answer instanceof ProtocolError && withAnswers.has(answer)) return answer;
  const serverAnswer = answerOf(answer);
  if (!serverAnswer || JSON.stringify(serverAnswer).length > MAX_ANSWER) return refusal;
  const data = isJsonObject(refusal.data) ? refusal.data : {};
  const error = markForClient(new ProtocolError(refusal.code, refusal.message, { ...data, serverAnswer }));
  withAnswers.add(error);
  return error;
}

/** The answer of the server at the end of a chain of bridges, if the error contains it. */
export function serverAnswerIn(error: unknown): JsonObject | ProtocolError | undefined {
  if (!(error instanceof ProtocolError) || error.code !== ErrorCode.MissingClientCapability) return undefined;
  const answer = isJsonObject(error.data) ? error.data['serverAnswer'] : undefined;
  if (!isJsonObject(answer)) return undefined;
  const { result, error: failure } = answer;
  if (isJsonObject(result)) return result;
  if (!isJsonObject(failure)) return undefined;
  const { code, message, data } = failure;
  if (!Number.isSafeInteger(code) || typeof message !== 'string') return undefined;
  return new ProtocolError(code as number, message, data);
}

function answerOf(answer: unknown): JsonObject | undefined {
  if (answer instanceof ProtocolError) {
    const { code, message, data } = answer;
    return { error: data === undefined ? { code, message } : { code, message, data } };
  }
  return isJsonObject(answer) ? { result: answer } : undefined;
}

/** Errors that already contain the answer. */
const withAnswers = new WeakSet<ProtocolError>();

/** In characters of JSON. Clients read a limited part of an HTTP error. */
const MAX_ANSWER = 65_536;
