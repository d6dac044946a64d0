import { IsthmusError } from '../../errors.js';
import type { OutgoingCall } from '../../exchange/call.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { InputRequests, InputResponses } from '../../wire/model.js';
import { answerQuestion } from '../answers.js';
import type { TenantCaller } from '../client/tenant-caller.js';

/** The calls of a modern connection whose questions the tenants are answering. They have no request in flight. */
export class ClientRounds {
  readonly #maxRounds: number;
  readonly #answering = new Set<Answering>();

  constructor(maxRounds: number) {
    this.#maxRounds = maxRounds;
  }

  /** Whether the tenant is being asked. */
  isAsked(caller: TenantCaller): boolean {
    for (const each of this.#answering) if (each.caller === caller) return true;
    return false;
  }

  /** Ends the calls of one tenant, or of all. */
  end(error: Error, caller?: TenantCaller): void {
    for (const each of this.#answering) {
      if (caller === undefined || each.caller === caller) each.over.abort(error);
    }
  }

  /**
   * MRTR-016 … MRTR-024: answers in parallel, returns the state unchanged, and never sends an older one. `send` makes
   * the request of the next round.
   */
  async answer(
    caller: TenantCaller,
    call: OutgoingCall,
    first: JsonObject,
    send: (params: JsonObject) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    call.onRound?.();
    let hasResult = false;
    try {
      let round = first;
      for (let count = 0; count < this.#maxRounds; count += 1) {
        const { inputRequests, requestState } = round;
        const inputResponses = await this.#answerAll(caller, call, inputRequests);
        round = await send({
          ...call.params,
          ...(inputRequests !== undefined && { inputResponses }),
          ...(requestState !== undefined && { requestState }),
        });
        hasResult = round['resultType'] !== 'input_required';
        if (hasResult) return round;
      }
      const message = `${call.method} asked for input ${this.#maxRounds} times, which is the limit`;
      throw new IsthmusError('TOO_MANY_ROUNDS', message, { sent: 'maybe' });
    } finally {
      caller.limiter?.end(call, hasResult);
    }
  }

  async #answerAll(caller: TenantCaller, call: OutgoingCall, requests: unknown): Promise<InputResponses> {
    const questions = Object.entries(isJsonObject(requests) ? (requests as InputRequests) : {});
    const over = new AbortController();
    const answering = { caller, over };
    this.#answering.add(answering);
    const abort = () =>
      over.abort(
        new IsthmusError('CANCELLED', `${call.method} was cancelled`, {
          cause: call.signal?.reason,
          sent: 'maybe',
        }),
      );
    if (call.signal?.aborted) abort();
    call.signal?.addEventListener('abort', abort, { once: true });
    caller.limiter?.suspend(call, caller, (error) => over.abort(error));
    try {
      const answered = questions.map(async ([key, request]) => {
        return [key, await answerQuestion(caller.tenant.answers, request, over.signal, call.number)] as const;
      });
      const entries = await Promise.race([Promise.all(answered), rejectOnAbort(over.signal)]);
      caller.limiter?.resume(call);
      return Object.fromEntries(entries);
    } catch (error) {
      // The other questions are not needed any more.
      over.abort(error);
      throw error;
    } finally {
      this.#answering.delete(answering);
      call.signal?.removeEventListener('abort', abort);
    }
  }
}

interface Answering {
  readonly caller: TenantCaller;
  readonly over: AbortController;
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
