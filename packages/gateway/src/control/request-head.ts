import type { IncomingMessage } from 'node:http';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import {
  CONTROL_VERSION,
  invalidRequest,
  otherVersion,
  PARAMS_HEADER,
  parseJson,
  VERSION_HEADER,
} from './protocol.js';

/** The parameters of a request are in a header, and may contain an environment. */
export const MAX_HEADER_BYTES = 1024 * 1024;

/** No request of this version has an `Origin` or a body, so a request that has one is refused unread. */
export function refuseForeign({ headers }: IncomingMessage): void {
  const { [VERSION_HEADER]: version = String(CONTROL_VERSION), origin } = headers;
  if (origin !== undefined) throw invalidRequest('The control socket does not answer web pages', 403);
  if (version !== String(CONTROL_VERSION)) throw otherVersion('gateway', version);
  if (Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined)
    throw invalidRequest('A control request has no body', 413);
}

export function paramsOf({ headers }: IncomingMessage): JsonObject {
  const params = parseJson(headers[PARAMS_HEADER] ?? '{}');
  if (isJsonObject(params)) return params;
  throw invalidRequest(`${PARAMS_HEADER} is not a JSON object`);
}
