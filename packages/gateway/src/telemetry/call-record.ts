import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, Era, Peer } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject, type JsonObject, type RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';

/**
 * - `ok`: it was answered.
 * - `input_required`: it was answered with questions. Another call continues it.
 * - `tool_error`: the tool answered that it failed (`isError`).
 * - `error`: it was answered with an error of the protocol.
 * - `cancelled`: the client does not wait for the answer any more.
 */
export type CallOutcome = 'ok' | 'input_required' | 'tool_error' | 'error' | 'cancelled';

/** The gateway serves clients, and is itself a client of servers. */
export type TelemetrySide = 'server' | 'client';

/** How a peer is reached, as OpenTelemetry names it. */
export type NetworkTransport = 'tcp' | 'pipe' | 'unix';

/** One call that is over. */
export interface CallRecord {
  readonly server: string;
  readonly side: TelemetrySide;
  /** The id of its request. */
  readonly request: RequestId | undefined;
  readonly method: string;
  readonly tool: string | undefined;
  readonly prompt: string | undefined;
  readonly uri: string | undefined;
  readonly era: Era;
  /** The revision that is spoken on this side. */
  readonly revision: string | undefined;
  readonly transport: NetworkTransport | undefined;
  readonly principal: string | undefined;
  /** The name that the client gives itself. It is not verified. */
  readonly client: string | undefined;
  /** The member of the cluster that the client has sent the request to, if that was another one. */
  readonly handedOnBy?: string | undefined;
  readonly durationMs: number;
  readonly outcome: CallOutcome;
  /** A word for what went wrong, the same for the same failure: `tool_error`, `-32602`, `TIMED_OUT`. */
  readonly errorType: string | undefined;
  /** The code of an error of the protocol. */
  readonly code: number | undefined;
  /** What the error says. */
  readonly message: string | undefined;
}

/** One legacy session that is over. */
export interface SessionRecord {
  readonly server: string;
  readonly revision: string;
  readonly transport: NetworkTransport | undefined;
  readonly durationMs: number;
}

export type CallEnding = Pick<CallRecord, 'outcome' | 'errorType' | 'code' | 'message'>;

/** What a call is about, as far as its params say. */
export function targetOf({ method, params }: Pick<Call, 'method' | 'params'>): {
  tool: string | undefined;
  prompt: string | undefined;
  uri: string | undefined;
} {
  const tool = method === 'tools/call' ? params['name'] : undefined;
  const prompt = method === 'prompts/get' ? params['name'] : undefined;
  const uri = method === 'resources/read' ? params['uri'] : undefined;
  return { tool: textOr(tool), prompt: textOr(prompt), uri: textOr(uri) };
}

export function clientOf({ info }: Peer): string | undefined {
  return info?.name;
}

/** A service with a bug may return undefined. The dialect reports that. */
export function endingOf(result: JsonObject | undefined): CallEnding {
  if (result?.['isError'] === true) return TOOL_ERROR;
  return result?.['resultType'] === 'input_required' ? INPUT_REQUIRED : OK;
}

export function failureOf(thrown: unknown): CallEnding {
  const message = messageOf(thrown);
  if (thrown instanceof ProtocolError) {
    const { code, data } = thrown;
    // The bridge sets a reason when a call did not reach the server.
    const reason = isJsonObject(data) ? data['reason'] : undefined;
    const errorType = typeof reason === 'string' ? reason : String(code);
    if (reason === 'CANCELLED') return { ...CANCELLED, message };
    return { outcome: 'error', errorType, code, message };
  }
  if (!(thrown instanceof IsthmusError)) {
    return { outcome: 'error', errorType: String(INTERNAL_ERROR), code: INTERNAL_ERROR, message };
  }
  if (thrown.code === 'CANCELLED') return { ...CANCELLED, message };
  return { outcome: 'error', errorType: thrown.code, code: INTERNAL_ERROR, message };
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

const INTERNAL_ERROR = -32603;
const OK: CallEnding = { outcome: 'ok', errorType: undefined, code: undefined, message: undefined };
const INPUT_REQUIRED: CallEnding = { ...OK, outcome: 'input_required' };
const TOOL_ERROR: CallEnding = { ...OK, outcome: 'tool_error', errorType: 'tool_error' };
export const CANCELLED: CallEnding = { ...OK, outcome: 'cancelled', errorType: 'cancelled' };
