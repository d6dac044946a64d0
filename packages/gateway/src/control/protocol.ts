import { IsthmusError, type LocalErrorCode, messageOf } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/**
 * JSON lines. A request has the version, an id and a verb; its answer has the same id and `result` or `error`.
 * `logs` is answered by any number of `line`s before its result. After the answer to `attach` the connection no
 * longer belongs to this protocol.
 */
export const CONTROL_VERSION = 1;

export type ControlRequest =
  | { readonly verb: 'status' | 'reload' | 'shutdown'; readonly id: number }
  | { readonly verb: 'restart' | 'stop' | 'start'; readonly id: number; readonly name: string }
  | {
      readonly verb: 'logs';
      readonly id: number;
      readonly name: string | undefined;
      readonly lines: number;
      readonly follow: boolean;
    }
  /** Ends the logs that were asked for as `of`; has no answer of its own. */
  | { readonly verb: 'cancel'; readonly id: number; readonly of: number }
  | { readonly verb: 'attach'; readonly id: number; readonly params: Readonly<Record<string, unknown>> };

export type ReadRequest =
  | { readonly kind: 'request'; readonly request: ControlRequest }
  | { readonly kind: 'refused'; readonly id: number | null; readonly error: IsthmusError };

/** What a line asks for. Pure, and never throws: whatever the line is, there is an answer to it. */
export function readRequest(line: string): ReadRequest {
  const value = parse(line);
  if (!isJsonObject(value))
    return refused(null, 'INVALID_OPTION', 'That is no control request: one JSON object per line');
  const id = Number.isSafeInteger(value['id']) ? (value['id'] as number) : null;
  if (value['control'] !== CONTROL_VERSION)
    return refused(id, 'NO_COMMON_REVISION', otherVersion('gateway', value['control']));
  if (id === null) return refused(null, 'INVALID_OPTION', 'A control request needs an id, a whole number');
  const request = toRequest(id, value);
  if (request) return { kind: 'request', request };
  return refused(
    id,
    'INVALID_OPTION',
    `This gateway cannot do ${JSON.stringify(value['verb'] ?? null).slice(0, 100)} with these fields`,
  );
}

/** Why two sides do not understand each other, in the words of either. */
export function otherVersion(us: 'gateway' | 'command', theirs: unknown): string {
  const other = us === 'gateway' ? 'command' : 'gateway';
  const version = typeof theirs === 'number' ? `version ${theirs}` : 'none that is known here';
  return `This ${us} speaks version ${CONTROL_VERSION} of the control protocol, and the ${other} ${version}: use the same isthmus on both sides`;
}

/** An answer, or a line of the logs that were asked for. */
export type ControlAnswer =
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'line'; readonly id: number; readonly line: unknown }
  /** Without an id it is about the connection. */
  | { readonly kind: 'error'; readonly id: number | null; readonly error: IsthmusError };

export function encodeRequest(request: ControlRequest): string {
  return `${JSON.stringify({ control: CONTROL_VERSION, ...request })}\n`;
}

export function encodeResult(id: number, result: unknown): string {
  return `${JSON.stringify({ control: CONTROL_VERSION, id, result: result ?? null })}\n`;
}

export function encodeLine(id: number, line: unknown): string {
  return `${JSON.stringify({ control: CONTROL_VERSION, id, line })}\n`;
}

export function encodeError(id: number | null, thrown: unknown): string {
  const code = thrown instanceof IsthmusError ? thrown.code : 'REFUSED_BY_PEER';
  const evidence = thrown instanceof IsthmusError ? thrown.evidence : undefined;
  const error = { code, message: messageOf(thrown), ...(evidence && { evidence }) };
  return `${JSON.stringify({ control: CONTROL_VERSION, id, error })}\n`;
}

/** What a line of a gateway says; undefined when it is none of a gateway's. */
export function readAnswer(line: string): ControlAnswer | undefined {
  const value = parse(line);
  if (!isJsonObject(value) || !('control' in value)) return undefined;
  const id = Number.isSafeInteger(value['id']) ? (value['id'] as number) : null;
  const { error } = value;
  if (value['control'] !== CONTROL_VERSION) {
    return {
      kind: 'error',
      id,
      error: new IsthmusError('NO_COMMON_REVISION', otherVersion('command', value['control'])),
    };
  }
  if (isJsonObject(error)) return { kind: 'error', id, error: toError(error) };
  if (id === null) return undefined;
  return 'line' in value
    ? { kind: 'line', id, line: value['line'] }
    : { kind: 'result', id, result: value['result'] };
}

function toRequest(id: number, value: Readonly<Record<string, unknown>>): ControlRequest | undefined {
  const { verb, name, lines = 100, follow = false, of, params = {} } = value;
  switch (verb) {
    case 'status':
    case 'reload':
    case 'shutdown':
      return { verb, id };
    case 'restart':
    case 'stop':
    case 'start':
      return typeof name === 'string' ? { verb, id, name } : undefined;
    case 'logs':
      if (name !== undefined && typeof name !== 'string') return undefined;
      if (!Number.isSafeInteger(lines) || (lines as number) < 0 || typeof follow !== 'boolean')
        return undefined;
      return { verb, id, name, lines: lines as number, follow };
    case 'cancel':
      return Number.isSafeInteger(of) ? { verb, id, of: of as number } : undefined;
    case 'attach':
      return isJsonObject(params) ? { verb, id, params } : undefined;
    default:
      return undefined;
  }
}

function refused(id: number | null, code: LocalErrorCode, message: string): ReadRequest {
  return { kind: 'refused', id, error: new IsthmusError(code, message) };
}

/** The code is that of a gateway of our own version. */
function toError({ code, message, evidence }: Readonly<Record<string, unknown>>): IsthmusError {
  const lines = Array.isArray(evidence) ? evidence.map(String) : undefined;
  return new IsthmusError(
    typeof code === 'string' ? (code as LocalErrorCode) : 'REFUSED_BY_PEER',
    typeof message === 'string' ? message : 'The gateway refused without saying why',
    { evidence: lines },
  );
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
