import type { Clock } from '../async/clock.js';
import { IsthmusError, messageOf, ProtocolError } from '../errors.js';
import type { Call, HandledResult } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { InputRequest, InputResponse, InputResponses } from '../wire/model.js';
import { emptyRound, type InputRequired, isInputRequired, missingCapability } from './input-rounds.js';
import { checkedResult } from './server-dialect-context.js';

/** A call whose handler is run again with the answers of the client. */
export interface ReplayedCall extends Call {
  answers: InputResponses | undefined;
  state: unknown;
}

/**
 * Runs a call to its end whose handler returned `inputRequired` (replay style): it is run again with the answers, which a
 * legacy client gives to real requests. The client never sees `input_required`.
 */
export async function answerRounds(
  handle: (call: ReplayedCall) => HandledResult,
  call: ReplayedCall,
  clock: Clock,
  first: InputRequired,
): Promise<JsonObject> {
  let required = first;
  const visited = new VisitedPages();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const requests = Object.entries(required.inputRequests ?? {});
    // Without questions the handler only wants to be run again later (MRTR-017).
    if (requests.length === 0) {
      if (required.state === undefined) throw emptyRound(call.method);
      await pause(clock, call.signal);
    }
    try {
      if (requests.length > 0 && requests.every(([, request]) => visited.has(request))) {
        await pause(clock, call.signal, visited.nextPauseMs());
      }
      const asked = requests.map(async ([key, request]) => [key, await ask(call, request, visited)] as const);
      call.answers = Object.fromEntries(await Promise.all(asked)) as InputResponses;
    } catch (error) {
      return unanswered(call, error);
    }
    call.state = required.state;
    const result = checkedResult(await handle(call));
    if (!isInputRequired(result)) return result;
    required = result;
  }
  throw new ProtocolError(
    ErrorCode.InternalError,
    `${call.method} asked for input ${MAX_ROUNDS} times, which is the limit`,
  );
}

async function ask(call: ReplayedCall, request: InputRequest, visited: VisitedPages): Promise<InputResponse> {
  // The user is not sent to the same page twice; the handler still waits for what the user does there.
  if (visited.has(request)) return { action: 'accept' };
  try {
    const answer = await call.ask(request);
    visited.note(request, answer);
    return answer;
  } catch (error) {
    // A handler cannot be given an error as an answer. An elicitation can be answered with `cancel`.
    if (request.method !== 'elicitation/create' || !isRefusal(error, call, request)) throw error;
    return { action: 'cancel' };
  }
}

/** The client refused the question, or its revision cannot express it. */
function isRefusal(error: unknown, { peer }: ReplayedCall, request: InputRequest): boolean {
  if (!(error instanceof IsthmusError)) return false;
  const inexpressible = error.code === 'CAPABILITY_MISSING' && !missingCapability(request, peer.capabilities);
  return error.code === 'REFUSED_BY_PEER' || inexpressible;
}

/** The URLs that the user has agreed to open during one call. */
class VisitedPages {
  readonly #urls = new Set<string>();
  #pauses = 0;

  has(request: InputRequest): boolean {
    const url = pageOf(request);
    return url !== undefined && this.#urls.has(url);
  }

  note(request: InputRequest, answer: InputResponse): void {
    const url = pageOf(request);
    if (url !== undefined && 'action' in answer && answer.action === 'accept') this.#urls.add(url);
  }

  /** Doubles each time that the server asks for the same pages again. */
  nextPauseMs(): number {
    this.#pauses += 1;
    return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** this.#pauses);
  }
}

function pageOf(request: InputRequest): string | undefined {
  if (request.method !== 'elicitation/create' || request.params.mode !== 'url') return undefined;
  return request.params.url;
}

/** As if the handler's own `await ctx.elicit()` had failed: a tool reports it to the model (TOOL-017). */
function unanswered(call: ReplayedCall, error: unknown): JsonObject {
  if (call.method !== 'tools/call') throw error;
  return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
}

const MAX_ROUNDS = 64;
const PAUSE_MS = 200;
const MAX_PAUSE_MS = 10_000;

function pause(clock: Clock, signal: AbortSignal, ms = PAUSE_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      callOff();
      reject(signal.reason);
    };
    const callOff = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
