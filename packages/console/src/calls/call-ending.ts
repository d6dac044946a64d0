import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CallDetail, CallRow } from '../contract.js';

/** How a call ended, for its row. */
export type OwnCallEnding = Pick<CallRow, 'outcome' | 'errorType' | 'code' | 'message' | 'sent'>;

export function endingOf(result: JsonObject): OwnCallEnding {
  if (result['isError'] === true) return { outcome: 'tool_error', errorType: 'tool_error' };
  return { outcome: result['resultType'] === 'input_required' ? 'input_required' : 'ok' };
}

export function failureOf(thrown: unknown): OwnCallEnding {
  const message = messageOf(thrown);
  if (thrown instanceof ProtocolError)
    return { outcome: 'error', errorType: String(thrown.code), code: thrown.code, message };
  if (!(thrown instanceof IsthmusError)) return { outcome: 'error', errorType: 'INTERNAL', message };
  const { code, sent } = thrown;
  return {
    outcome: code === 'CANCELLED' ? 'cancelled' : 'error',
    errorType: code,
    message,
    ...(sent && { sent }),
  };
}

/** The error for the page of the call. */
export function errorOf(thrown: unknown): CallDetail['error'] {
  const message = messageOf(thrown);
  if (thrown instanceof ProtocolError) {
    const { code, data } = thrown;
    return { code, message, ...(data !== undefined && { data }) };
  }
  return { code: thrown instanceof IsthmusError ? thrown.code : 'INTERNAL', message };
}

/** What a call is about, as far as its params say. */
export function targetOf(method: string, params: JsonObject): Pick<CallRow, 'tool' | 'prompt' | 'uri'> {
  const { name, uri } = params;
  if (method === 'tools/call' && typeof name === 'string') return { tool: name };
  if (method === 'prompts/get' && typeof name === 'string') return { prompt: name };
  return method === 'resources/read' && typeof uri === 'string' ? { uri } : {};
}
