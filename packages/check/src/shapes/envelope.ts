/** The JSON-RPC envelope, and errors. */

import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { clientCapabilities } from './meta.js';
import { requiredVisit } from './questions.js';
import {
  all,
  anyObject,
  type Complaint,
  integer,
  inWords,
  judge,
  list,
  object,
  oneOf,
  type Revision,
  type Shape,
  string,
  stringOrInteger,
} from './shape.js';

type Look = (member: string, shape: Shape) => void;

/** An array is a batch, which only 2025-03-26 has. */
export function judgeEnvelope(json: unknown, revision: Revision | undefined): Complaint[] {
  if (!Array.isArray(json) || revision !== '2025-03-26') return judgeOne(json, '');
  if (json.length === 0) return [{ path: 'message', expected: 'messages', got: 'an empty array' }];
  return json.flatMap((each, index) => judgeOne(each, `[${index}]`));
}

function judgeOne(json: unknown, at: string): Complaint[] {
  if (!isJsonObject(json))
    return [{ path: at || 'message', expected: 'a JSON-RPC object', got: inWords(json) }];
  const complaints: Complaint[] = [];
  const path = (member: string) => (at === '' ? member : `${at}.${member}`);
  // The envelope is the same in all revisions.
  const look: Look = (member, shape) => {
    complaints.push(...judge(shape, json[member], path(member), '2026-07-28'));
  };
  look('jsonrpc', oneOf('2.0'));
  const known = json['method'] === undefined ? answer(json, look) : saying(json, look);
  if (known.length === 0)
    complaints.push({ path: at || 'message', expected: 'one of method, result and error', got: 'none' });
  else
    for (const member of Object.keys(json))
      if (!['jsonrpc', 'id', ...known].includes(member))
        complaints.push({ path: path(member), expected: 'nothing', got: inWords(json[member]) });
  return complaints;
}

/** A request, or a notification, which has no id. */
function saying(json: JsonObject, look: Look): string[] {
  look('method', string);
  if (json['id'] !== undefined) look('id', stringOrInteger);
  if (json['params'] !== undefined) look('params', anyObject);
  return ['method', 'params'];
}

function answer(json: JsonObject, look: Look): string[] {
  if (json['result'] !== undefined) {
    look('id', stringOrInteger);
    look('result', anyObject);
    return ['result'];
  }
  if (json['error'] === undefined) return [];
  look('error', anyObject);
  if (!hasNoId(json)) look('id', stringOrInteger);
  return ['error'];
}

/** The id is absent if it could not be read. JSON-RPC uses null then, which is allowed for these two codes. */
function hasNoId(json: JsonObject): boolean {
  const code = isJsonObject(json['error']) ? json['error']['code'] : undefined;
  const unread = code === ErrorCode.ParseError || code === ErrorCode.InvalidRequest;
  return json['id'] === undefined || (json['id'] === null && unread);
}

const members = object({ code: integer, message: string });

/** Modern codes with a fixed `data` (ERR-011, META-008). */
const MODERN_DATA: Readonly<Record<number, Shape>> = {
  [ErrorCode.MissingClientCapability]: object({ requiredCapabilities: clientCapabilities }),
  [ErrorCode.UnsupportedProtocolVersion]: object({ supported: list(string), requested: string }),
};

const STANDARD: readonly number[] = [
  ErrorCode.ParseError,
  ErrorCode.InvalidRequest,
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidParams,
  ErrorCode.InternalError,
];
const MODERN: readonly number[] = [
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
];

const code: Shape = (value, path, { revision, complaints }) => {
  const wrong = isJsonObject(value) ? wrongCode(value['code'], revision) : undefined;
  if (wrong !== undefined)
    complaints.push({
      path: `${path}.code`,
      expected: wrong,
      got: String((value as { code: unknown }).code),
    });
};

const data: Shape = (value, path, context) => {
  if (!isJsonObject(value)) return;
  const given = value['code'] as number;
  if (context.revision >= '2026-07-28') MODERN_DATA[given]?.(value['data'], `${path}.data`, context);
  else if (context.revision === '2025-11-25' && given === ErrorCode.LegacyUrlElicitationRequired)
    object({ elicitations: list(requiredVisit) })(value['data'], `${path}.data`, context);
};

export const error: Shape = all(members, code, data);

/** The expected code, if this one is not allowed. Codes outside of the range of JSON-RPC are always allowed. */
function wrongCode(given: unknown, revision: Revision): string | undefined {
  if (!Number.isInteger(given)) return undefined;
  const number = given as number;
  if (number < -32768 || number > -32000 || STANDARD.includes(number)) return undefined;
  if (number < -32099) return 'a code that JSON-RPC does not reserve';
  if (revision < '2026-07-28') return undefined;
  if (number === ErrorCode.LegacyResourceNotFound)
    return '-32602, since -32002 is of earlier revisions (ERR-006)';
  if (number > -32020 || MODERN.includes(number)) return undefined;
  return '-32020, -32021 or -32022 in the range that MCP reserves (ERR-004)';
}
