/** The `error` of an answer: codes that mean something, and what they carry. */
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { clientCapabilities } from './capabilities.js';
import { requiredVisit } from './elicitation.js';
import { all, integer, list, object, type Revision, type Shape, string } from './shape.js';

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

const data: Shape = (value, path, ground) => {
  if (!isJsonObject(value)) return;
  const given = value['code'] as number;
  if (ground.revision >= '2026-07-28') MODERN_DATA[given]?.(value['data'], `${path}.data`, ground);
  else if (ground.revision === '2025-11-25' && given === ErrorCode.LegacyUrlElicitationRequired)
    object({ elicitations: list(requiredVisit) })(value['data'], `${path}.data`, ground);
};

export const error: Shape = all(members, code, data);

/** What should have been there instead, if a code may not be sent. Codes outside of JSON-RPC's range are free. */
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
