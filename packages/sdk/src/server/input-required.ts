import type { InputRequired } from '../era/input-rounds.js';
import type { InputRequests } from '../wire/model.js';

export type { InputRequired };

/**
 * Return this from a handler to ask the client for input without keeping anything in memory: the handler is
 * run again with `ctx.answers` (by the same keys) and `ctx.state`. In the modern era the state travels
 * sealed with the client; legacy clients get real requests.
 */
export function inputRequired(round: { requests?: InputRequests; state?: unknown }): InputRequired {
  return {
    resultType: 'input_required',
    ...(round.requests !== undefined && { inputRequests: round.requests }),
    ...(round.state !== undefined && { state: round.state }),
  };
}
