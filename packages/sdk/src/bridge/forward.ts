import { randomUUID } from 'node:crypto';
import { META } from '../era/meta-keys.js';
import { ProtocolError } from '../errors.js';
import type { Call, Era } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import { deriveText } from '../wire/result-text.js';
import { carriedPage, carriedParams, ForwardedCall } from './forwarded-call.js';
import { refusedFor, runAsTask, serverAnswerIn, wantsTask } from './run-as-task.js';
import { noteRefusal } from './session-news.js';
import { cleaned, toClientError } from './upstream-errors.js';
import { asksForPages, type UpstreamFacts, type UpstreamTools, visitPages } from './upstream-facts.js';
import type { UpstreamSession, UpstreamSessions } from './upstream-sessions.js';

export interface ForwardContext {
  readonly far: UpstreamFacts;
  readonly tools: UpstreamTools;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Removes secrets from errors of the connection that clients get. */
  readonly clean: (text: string) => string;
}

/** Makes a call of the near side on the far side, and hands back what comes of it. */
export async function forward(
  call: Call,
  seats: UpstreamSessions,
  context: ForwardContext,
): Promise<JsonObject> {
  let seat: UpstreamSession | undefined;
  let far = context.far.era;
  try {
    seat = seats.of(call, context.far.era);
    seat.uses += 1;
    // Which era it is may be another than the last time; so it is connected to before anything is decided.
    const link = seat.session.ready ?? (await seat.session.connected({ signal: call.cancellation }));
    const { era } = link.caller;
    far = era;
    const params = carriedParams(call, era);
    if (era === 'modern') continueRound(call, params);
    else refuseLegacy(call);
    if (era === 'legacy' && isTask(call, context)) return await callAsTask(call, seat, context, params);
    const out = forwarded(call, seat, context, era, params);
    const began = seat.session.now();
    let result: JsonObject;
    try {
      // Not by way of functions that wait for each other: each promise is a part of the price of a small call.
      result = await link.caller.call(out);
      if (out.refusal && result['isError'] === true) throw refusedFor(out.refusal, result);
    } catch (error) {
      if (out.refusal) throw refusedFor(out.refusal, error);
      const said = era === 'modern' && call.peer.era === 'legacy' ? serverAnswerIn(error) : undefined;
      if (said instanceof ProtocolError) throw said;
      if (said) result = said;
      else if (era === 'legacy' && error instanceof ProtocolError)
        result = await callDifferently(error, call, seat, context, params);
      else result = await seat.session.again(error, out, link, began);
    }
    return carried(result, call, era, context.tools);
  } catch (error) {
    noteRefusal(seat?.owner, error);
    throw cleaned(toClientError(error, call, far), context.clean);
  } finally {
    if (seat) seat.uses -= 1;
  }
}

/**
 * A round of a modern server passes through: its questions are put by the near dialect, its state comes back
 * exactly (MRTR-020), and nothing is kept here in between.
 */
function continueRound(call: Call, params: JsonObject): void {
  // A round may have had a state and no questions: then there is nothing to answer.
  const { answers } = call;
  if (answers && Object.keys(answers).length > 0) params['inputResponses'] = answers;
  if (call.state !== undefined) params['requestState'] = call.state;
}

/**
 * The questions of a legacy server come while a call runs, and the near call is put to sleep over them. The state
 * of such a round wakes it up, and never gets here: this one would run the call again. Answers without a state
 * belong to no round; they are surplus (MRTR-026).
 */
function refuseLegacy(call: Call): void {
  if (call.method.startsWith('tasks/')) {
    // The tasks of 2025-11-25 and those of the modern extension have little but the name in common.
    throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${call.method}`);
  }
  if (call.state === undefined) return;
  const message = `${call.method} was answered without asking: the call that asked is gone`;
  throw new ProtocolError(ErrorCode.InvalidParams, message);
}

function carried(result: JsonObject, call: Call, far: Era, tools: UpstreamTools): JsonObject {
  if (result['resultType'] !== undefined) {
    // In the legacy era it means nothing.
    if (far === 'legacy') return carried(withoutType(result), call, far, tools);
    if (result['resultType'] === 'input_required') {
      const { requestState, ...round } = result;
      return requestState === undefined ? round : { ...round, state: requestState };
    }
  }
  const told = call.method === 'tools/list' ? tools.learn(result, call.peer.principal) : result;
  if (call.peer.era === 'modern' || far === 'legacy') return told;
  return withoutEnvelope(carriedPage(told));
}

function withoutType({ resultType, inputRequests, requestState, ...result }: JsonObject): JsonObject {
  return result;
}

/** What belongs to the modern hop, and not to a legacy client. */
function withoutEnvelope(result: JsonObject): JsonObject {
  const { resultType, ttlMs, cacheScope, _meta, ...rest } = result;
  const { [META.serverInfo]: _info, ...own } = isJsonObject(_meta) ? _meta : {};
  const after: JsonObject = Object.keys(own).length > 0 ? { _meta: own } : {};
  const carried = { ...rest, ...after };
  const left = ['resultType', 'ttlMs', 'cacheScope', '_meta'];
  deriveText(result, carried, { left, before: {}, after });
  return carried;
}

/** A legacy server has not run the call, and says what it wants first. */
async function callDifferently(
  refusal: ProtocolError,
  call: Call,
  seat: UpstreamSession,
  context: ForwardContext,
  params: JsonObject,
): Promise<JsonObject> {
  const mayBeTask = call.method === 'tools/call' && context.far.hasToolTasks;
  if (mayBeTask && wantsTask(refusal)) return callAsTask(call, seat, context, params);
  let error: unknown = refusal;
  for (let visits = 0; visits < MAX_VISITS; visits += 1) {
    if (call.peer.era === 'legacy' || !asksForPages(error)) break;
    if (!(await visitPages(call, error))) break;
    const out = forwarded(call, seat, context, 'legacy', params);
    try {
      const result = await seat.session.call(out);
      if (out.refusal && result['isError'] === true) throw refusedFor(out.refusal, result);
      return result;
    } catch (again) {
      error = out.refusal ? refusedFor(out.refusal, again) : again;
    }
  }
  throw error;
}

function isTask({ method, params, peer }: Call, { far, tools }: ForwardContext): boolean {
  return far.hasToolTasks && method === 'tools/call' && tools.onlyAsTask(params['name'], peer.principal);
}

function callAsTask(
  call: Call,
  seat: UpstreamSession,
  context: ForwardContext,
  params: JsonObject,
): Promise<JsonObject> {
  // PROG-011: a task reports under the token that it was started with.
  const progressToken = call.wantsProgress ? randomUUID() : undefined;
  return runAsTask(
    {
      make: async (method, ofTask) => {
        const out = forwarded(call, seat, context, 'legacy', ofTask, { method, progressToken });
        const result = await seat.session.call(out).catch((error: unknown) => {
          throw out.refusal ? refusedFor(out.refusal, error) : error;
        });
        if (out.refusal && result['isError'] === true) throw refusedFor(out.refusal, result);
        return result;
      },
      cancel: (method, ofTask) => {
        const { timeoutMs } = context;
        return seat.session.call({ method, params: ofTask, timeoutMs, maxTimeoutMs: timeoutMs });
      },
    },
    params,
    call.cancellation,
  );
}

function forwarded(
  call: Call,
  { owner }: UpstreamSession,
  { far, timeoutMs, maxTimeoutMs }: ForwardContext,
  era: Era,
  params: JsonObject,
  ofTask?: { readonly method: string; readonly progressToken: string | undefined },
): ForwardedCall {
  const logs = far.capabilities.logging !== undefined;
  const progressToken = ofTask?.progressToken;
  const forwarding = { params, far: era, owner, timeoutMs, maxTimeoutMs, logs, progressToken };
  return new ForwardedCall(call, forwarding, ofTask?.method);
}

/** How often the user is sent to pages for one call. */
const MAX_VISITS = 8;
