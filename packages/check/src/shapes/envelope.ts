/** JSON-RPC around it all. */
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Complaint } from './complaint.js';
import {
  anyObject,
  inWords,
  judge,
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

/** A request, or a notification, which has no id at all. */
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

/** Absent where none could be read. JSON-RPC itself writes null then, which is borne where nothing was understood. */
function hasNoId(json: JsonObject): boolean {
  const code = isJsonObject(json['error']) ? json['error']['code'] : undefined;
  const unread = code === ErrorCode.ParseError || code === ErrorCode.InvalidRequest;
  return json['id'] === undefined || (json['id'] === null && unread);
}
