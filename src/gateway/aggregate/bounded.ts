import type { Clock } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import type { Call } from '../../exchange/call.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { Part } from './part.js';
import { PassingCall } from './part-call.js';

/** The server may be well, but it took too long for this list. */
export class LateAnswer extends IsthmusError {}

/** Asks one of several servers for its part of a list; one that does not answer in time does not hold up the others. */
export async function askWithin(
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
  part: Part,
  whole: Call,
  params: JsonObject,
  ask: (call: Call) => Promise<JsonObject>,
): Promise<JsonObject> {
  const call = new PassingCall(whole, params);
  const late = createDeferred<never>();
  const callOff = clock.after(ms, () => {
    const error = new LateAnswer('TIMED_OUT', `${part.name} did not answer within ${ms / 1000} s`);
    call.giveUp(error);
    late.reject(error);
  });
  try {
    return await Promise.race([ask(call), late.promise]);
  } finally {
    callOff();
    call.end();
  }
}
