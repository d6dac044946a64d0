import { ProtocolError } from '../errors.js';
import type { Call } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import type { JsonObject } from '../wire/json-rpc.js';
import { carriedPage, carriedParams } from './carried-params.js';
import { toNearError } from './far-errors.js';
import type { FarFacts } from './far-facts.js';
import type { FarTools } from './far-tools.js';
import { ForwardedCall } from './forwarded-call.js';
import { runAsTask, wantsTask } from './run-as-task.js';
import type { Seat } from './seats.js';
import { asksForPages, visitPages } from './visit-pages.js';

export interface ForwardContext {
  readonly far: FarFacts;
  readonly tools: FarTools;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
}

/** Makes a call of the near side on the far side, and hands back what comes of it. */
export async function forward(call: Call, seat: Seat, context: ForwardContext): Promise<JsonObject> {
  const { far, tools } = context;
  seat.uses += 1;
  try {
    // Which era it is may be another than the last time; so it is spoken to before anything is decided.
    const { era } = (seat.session.ready ?? (await seat.session.connected(call))).caller;
    const result =
      era === 'modern' ? await callModern(call, seat, context) : await callLegacy(call, seat, context);
    if (call.method === 'tools/list') return carriedPage(tools.learn(result), call.peer.era, era);
    return carriedPage(result, call.peer.era, far.era);
  } catch (error) {
    throw toNearError(error, call);
  } finally {
    seat.uses -= 1;
  }
}

/**
 * A round passes through: its questions are put by the near dialect, its state comes back exactly (MRTR-020), and
 * nothing is kept here in between.
 */
async function callModern(call: Call, seat: Seat, context: ForwardContext): Promise<JsonObject> {
  const params = carriedParams(call, 'modern');
  if (call.answers !== undefined) params['inputResponses'] = call.answers;
  if (call.state !== undefined) params['requestState'] = call.state;
  const result = await make(forwarded(call, seat, context, params), seat);
  if (result['resultType'] !== 'input_required') return result;
  const { requestState, ...round } = result;
  return requestState === undefined ? round : { ...round, state: requestState };
}

/** Its questions come while it runs; the call of the near side is put to sleep over them. */
async function callLegacy(call: Call, seat: Seat, context: ForwardContext): Promise<JsonObject> {
  const { far, tools } = context;
  // The state of a round of ours wakes a sleeping call, and never gets here. This would run the call again. Answers
  // without a state belong to no round: they are surplus (MRTR-026).
  if (call.state !== undefined) {
    const message = `${call.method} was answered without asking: the call that asked is gone`;
    throw new ProtocolError(ErrorCode.InvalidParams, message);
  }
  const params = carriedParams(call, 'legacy');
  const asTask = () =>
    runAsTask(
      (method, ofTask) => make(forwarded(call, seat, context, ofTask, method), seat),
      params,
      call.signal,
    );
  const isTool = call.method === 'tools/call' && far.hasToolTasks;
  if (isTool && tools.onlyAsTask(params['name'])) return asTask();
  for (let visits = 0; ; visits += 1) {
    const out = forwarded(call, seat, context, params);
    try {
      return await make(out, seat);
    } catch (error) {
      if (out.refusal) throw out.refusal;
      if (isTool && wantsTask(error)) return asTask();
      const mayVisit = call.peer.era === 'modern' && asksForPages(error) && visits < MAX_VISITS;
      if (!mayVisit || !(await visitPages(call, error))) throw error;
    }
  }
}

function forwarded(
  call: Call,
  { owner, session }: Seat,
  { far, timeoutMs, maxTimeoutMs }: ForwardContext,
  params: JsonObject,
  method?: string,
): ForwardedCall {
  const logs = far.capabilities.logging !== undefined;
  const era = session.ready?.caller.era ?? far.era;
  return new ForwardedCall(call, { params, far: era, owner, timeoutMs, maxTimeoutMs, logs }, method);
}

function make(out: ForwardedCall, { session }: Seat): Promise<JsonObject> {
  const link = session.ready;
  if (!link) return session.call(out);
  const began = session.now();
  return link.caller.call(out).catch((error) => session.again(error, out, link, began));
}

/** How often the user is sent to pages for one call. */
const MAX_VISITS = 8;
