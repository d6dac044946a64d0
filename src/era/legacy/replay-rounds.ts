import type { Clock } from '../../async/clock.js';
import { messageOf, ProtocolError } from '../../errors.js';
import type { Service } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { InputResponses } from '../../wire/model.js';
import { cannotAsk, emptyRound, type InputRequired, isInputRequired } from '../input-rounds.js';
import type { LegacyServerCall } from './server-call.js';

/**
 * Runs a call to its end. A handler that answers `inputRequired` (replay style) is asked again with the
 * answers, which a legacy client gives to real requests; the client never sees `input_required`.
 */
export function runRounds(
  service: Service,
  call: LegacyServerCall,
  mayAsk: boolean,
  clock: Clock,
): JsonObject | Promise<JsonObject> {
  const next = (result: JsonObject): JsonObject | Promise<JsonObject> => {
    if (!isJsonObject(result) || !isInputRequired(result)) return result;
    if (!mayAsk) throw cannotAsk(call.method);
    return answerRounds(service, call, clock, result);
  };
  const first = service.handle(call);
  return first instanceof Promise ? first.then(next) : next(first);
}

async function answerRounds(
  service: Service,
  call: LegacyServerCall,
  clock: Clock,
  first: InputRequired,
): Promise<JsonObject> {
  let required = first;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const requests = Object.entries(required.inputRequests ?? {});
    // Without questions the handler only wants to be called again, later (MRTR-017).
    if (requests.length === 0) {
      if (required.state === undefined) throw emptyRound(call.method);
      await pause(clock, call.signal);
    }
    const asked = requests.map(async ([key, request]) => [key, await call.ask(request)] as const);
    try {
      call.answers = Object.fromEntries(await Promise.all(asked)) as InputResponses;
    } catch (error) {
      return unanswered(call, error);
    }
    call.state = required.state;
    const result = await service.handle(call);
    if (!isInputRequired(result)) return result;
    required = result;
  }
  throw new ProtocolError(
    ErrorCode.InternalError,
    `${call.method} asked for input ${MAX_ROUNDS} times without an end`,
  );
}

/** The same as when a handler's own `await ctx.elicit()` fails: tools tell the model (TOOL-017). */
function unanswered(call: LegacyServerCall, error: unknown): JsonObject {
  if (call.method !== 'tools/call') throw error;
  return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
}

const MAX_ROUNDS = 32;
const PAUSE_MS = 200;

function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      callOff();
      reject(signal.reason);
    };
    const callOff = clock.after(PAUSE_MS, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
