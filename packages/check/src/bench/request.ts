import type { Client } from '@isthmus/sdk/internal/client/client.js';
import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { ConnectionEnd } from '@isthmus/sdk/internal/exchange/connection.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { BenchRequest, BenchSide, BenchTool } from './model.js';
import type { Ask } from './turn.js';

/**
 * The request for each side. Without a tool of the user it is a harmless request, the same for all sides: `tools/list` if all
 * of them answer it, otherwise `server/discover` or `ping`.
 */
export async function chooseRequests(
  sides: readonly BenchSide[],
  tool: BenchTool | undefined,
): Promise<readonly BenchRequest[]> {
  if (tool) {
    const params = { name: tool.name, arguments: tool.args };
    return sides.map(() => ({ method: 'tools/call', params }));
  }
  const answers = await Promise.all(sides.map(({ client }) => listsTools(client)));
  return sides.map(({ client }) => ({
    method: answers.every(Boolean) ? 'tools/list' : aliveMethod(client),
    params: {},
  }));
}

/** Sends the request without the cache of the client, which would answer instead of the server. */
export function asker(client: Client, { method, params }: BenchRequest): Ask {
  return () => client.request(method, params).then(judgeResult, judgeError);
}

async function listsTools(client: Client): Promise<boolean> {
  if (!client.server.capabilities.tools) return false;
  const failure = await asker(client, { method: 'tools/list', params: {} })();
  return failure === undefined;
}

/** The modern era has no ping. */
function aliveMethod({ era }: Client): string {
  return era === 'modern' ? 'server/discover' : 'ping';
}

/** Makes one request and reports its outcome, once. It uses no promises: a driver must cost less than what it measures. */
export type DirectAsk = (settle: (failure: BenchFailure | undefined) => void) => void;

/** Sends requests to a server without the work that a client does for an application. */
export interface DirectWay {
  asker(request: BenchRequest): DirectAsk;
  close(): Promise<void>;
}

/** The params of a request in the form of the era. */
export function paramsOf(era: Era, revision: string, params: JsonObject): JsonObject {
  if (era === 'legacy') return params;
  const meta = {
    [META.protocolVersion]: revision,
    [META.clientCapabilities]: {},
    [META.clientInfo]: CLIENT_INFO,
  };
  return { ...params, _meta: meta };
}

export const CLIENT_INFO = { name: 'isthmus-bench', version: VERSION };

export function failureOf(answer: {
  readonly result?: unknown;
  readonly error?: unknown;
}): BenchFailure | undefined {
  const { result, error } = answer;
  if (typeof result === 'object' && result !== null) return judgeResult(result as JsonObject);
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return { kind: `error ${String(code)}`, example: String(message).slice(0, 300), answered: true };
}

export function timedOut(ms: number): BenchFailure {
  return { kind: 'TIMED_OUT', example: `no answer within ${ms} ms`, answered: false };
}

/** The failure of requests whose connection has ended. It has the exit code of a process that exited. */
export function judgeEnd({ error }: ConnectionEnd): BenchFailure {
  if (error instanceof IsthmusError) return judgeError(error);
  const why = error ? `: ${messageOf(error)}` : '';
  return {
    kind: 'CONNECTION_CLOSED',
    example: `the connection ended before the answer${why}`,
    answered: false,
  };
}

/** How often requests in flight are checked against their time limit. */
export const SWEEP_MS = 50;

/** Why a request failed. */
export interface BenchFailure {
  readonly kind: string;
  readonly example: string;
  /** The server answered, so it is not silent. */
  readonly answered: boolean;
}

/** Undefined for a success. A tool result with `isError` is a failure. */
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
        example: 'the tool asked for input, which a benchmark does not provide',
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

/** Failures on this side that an answer of the server caused. */
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
