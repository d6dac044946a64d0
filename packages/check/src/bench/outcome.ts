import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** Why a request counts as failed. */
export interface BenchFailure {
  readonly kind: string;
  readonly example: string;
  /** The server answered: it is not silent. */
  readonly answered: boolean;
}

/** Undefined: it worked. A tool that ran and failed (`isError`) did not. */
export function judgeResult(result: JsonObject): BenchFailure | undefined {
  if (result['isError'] !== true) {
    const type = result['resultType'];
    return type === undefined || type === 'complete' ? undefined : judgeType(type);
  }
  return { kind: 'isError', example: firstText(result['content']), answered: true };
}

function judgeType(type: unknown): BenchFailure {
  return type === 'input_required'
    ? {
        kind: 'input_required',
        example: 'the tool asked for input, and a benchmark gives none',
        answered: true,
      }
    : { kind: 'INVALID_RESULT', example: `resultType is ${short(JSON.stringify(type))}`, answered: true };
}

export function judgeError(error: unknown): BenchFailure {
  if (error instanceof ProtocolError)
    return { kind: `error ${error.code}`, example: short(error.message), answered: true };
  if (!(error instanceof IsthmusError))
    return { kind: 'driver', example: short(messageOf(error)), answered: false };
  return { kind: error.code, example: short(error.message), answered: ANSWERS.includes(error.code) };
}

/** Failures on this side that something of the server's was the reason for. */
const ANSWERS: readonly string[] = ['HTTP_STATUS', 'UNAUTHORIZED', 'INVALID_RESULT', 'RESULT_TOO_LARGE'];

function firstText(content: unknown): string {
  for (const block of Array.isArray(content) ? content : []) {
    if (isJsonObject(block) && typeof block['text'] === 'string') return short(block['text']);
  }
  return 'the tool failed without a text';
}

function short(text: string): string {
  return text.length > EXAMPLE_CHARACTERS ? `${text.slice(0, EXAMPLE_CHARACTERS - 1)}…` : text;
}

const EXAMPLE_CHARACTERS = 300;
