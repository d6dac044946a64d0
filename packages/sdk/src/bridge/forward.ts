import { randomUUID } from 'node:crypto';
import { META } from '../era/meta-keys.js';
import { ProtocolError } from '../errors.js';
import type { Call, Era } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import { deriveText } from '../wire/result-text.js';
import { carriedPage, carriedParams, type ForwardContext, ForwardedCall } from './forwarded-call.js';
import { refusedFor, runAsTask, serverAnswerIn, wantsTask } from './run-as-task.js';
import { noteRefusal } from './session-changes.js';
import { cleaned, toClientError } from './upstream-errors.js';
import { asksForPages, type UpstreamTools, visitPages } from './upstream-facts.js';
import type { UpstreamSession, UpstreamSessions } from './upstream-sessions.js';

/** Makes a call of a client to the upstream, and returns its result in the form for this client. */
export async function forward(
  call: Call,
  sessions: UpstreamSessions,
  context: ForwardContext,
): Promise<JsonObject> {
  let session: UpstreamSession | undefined;
  let upstreamEra = context.upstream.era;
  try {
    session = sessions.of(call, context.upstream.era);
    session.uses += 1;
    // The era may have changed since the last connection, so connect before anything depends on it.
    const connection =
      session.caller.ready ?? (await session.caller.connected({ signal: call.cancellation }));
    const { era } = connection;
    upstreamEra = era;
    const params = carriedParams(call, era);
    if (era === 'modern') continueRound(call, params);
    else refuseLegacy(call);
    if (era === 'legacy' && isTask(call, context)) return await callAsTask(call, session, context, params);
    const out = new ForwardedCall(call, params, session.owner, context);
    const began = session.caller.now();
    let result: JsonObject;
    try {
      // Inlined on purpose: every further promise is a measurable part of the cost of a small call.
      result = await connection.call(out);
      if (out.refusal && result['isError'] === true) throw refusedFor(out.refusal, result);
    } catch (error) {
      if (out.refusal) throw refusedFor(out.refusal, error);
      const answer = era === 'modern' && call.peer.era === 'legacy' ? serverAnswerIn(error) : undefined;
      if (answer instanceof ProtocolError) throw answer;
      if (answer) result = answer;
      else if (era === 'legacy' && error instanceof ProtocolError)
        result = await callDifferently(error, call, session, context, params);
      else result = await session.caller.again(error, out, connection, began);
    }
    return carried(result, call, era, context.tools);
  } catch (error) {
    noteRefusal(session?.owner, error);
    throw cleaned(toClientError(error, call, upstreamEra), context.clean);
  } finally {
    if (session) session.uses -= 1;
  }
}

/**
 * A round of a modern server passes through: the client's dialect puts its questions, its state is returned unchanged
 * (MRTR-020), and the bridge keeps nothing between the requests.
 */
function continueRound(call: Call, params: JsonObject): void {
  // A round with a state and without questions has no answers.
  const { answers } = call;
  if (answers && Object.keys(answers).length > 0) params['inputResponses'] = answers;
  if (call.state !== undefined) params['requestState'] = call.state;
}

/**
 * A legacy server asks while a call runs, and the client's call is parked meanwhile. The state of such a round resumes the
 * parked call and never gets here; a state that does get here would run the call a second time. Answers without a state
 * belong to no round and are ignored (MRTR-026).
 */
function refuseLegacy(call: Call): void {
  if (call.method.startsWith('tasks/')) {
    // The tasks of 2025-11-25 and those of the modern extension are different protocols.
    throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${call.method}`);
  }
  if (call.state === undefined) return;
  const message = `The call of ${call.method} that asked has ended; send the request again without requestState`;
  throw new ProtocolError(ErrorCode.InvalidParams, message);
}

function carried(result: JsonObject, call: Call, upstreamEra: Era, tools: UpstreamTools): JsonObject {
  if (result['resultType'] !== undefined) {
    // `resultType` has no meaning in the legacy era.
    if (upstreamEra === 'legacy') return carried(withoutType(result), call, upstreamEra, tools);
    if (result['resultType'] === 'input_required') {
      const { requestState, ...round } = result;
      return requestState === undefined ? round : { ...round, state: requestState };
    }
  }
  const learned = call.method === 'tools/list' ? tools.learn(result, call.peer.principal) : result;
  if (call.peer.era === 'modern' || upstreamEra === 'legacy') return learned;
  return withoutEnvelope(carriedPage(learned));
}

function withoutType({ resultType, inputRequests, requestState, ...result }: JsonObject): JsonObject {
  return result;
}

/** Removes the fields that only the modern era has. */
function withoutEnvelope(result: JsonObject): JsonObject {
  const { resultType, ttlMs, cacheScope, _meta, ...rest } = result;
  const { [META.serverInfo]: _info, ...own } = isJsonObject(_meta) ? _meta : {};
  const after: JsonObject = Object.keys(own).length > 0 ? { _meta: own } : {};
  const carried = { ...rest, ...after };
  const left = ['resultType', 'ttlMs', 'cacheScope', '_meta'];
  deriveText(result, carried, { left, before: {}, after });
  return carried;
}

/** A legacy server has refused the call, and its error says how to make it: as a task, or after a visit to some pages. */
async function callDifferently(
  refusal: ProtocolError,
  call: Call,
  session: UpstreamSession,
  context: ForwardContext,
  params: JsonObject,
): Promise<JsonObject> {
  const mayBeTask = call.method === 'tools/call' && context.upstream.hasToolTasks;
  if (mayBeTask && wantsTask(refusal)) return callAsTask(call, session, context, params);
  let error: unknown = refusal;
  for (let visits = 0; visits < MAX_VISITS; visits += 1) {
    if (call.peer.era === 'legacy' || !asksForPages(error)) break;
    if (!(await visitPages(call, error))) break;
    const out = new ForwardedCall(call, params, session.owner, context);
    try {
      const result = await session.caller.call(out);
      if (out.refusal && result['isError'] === true) throw refusedFor(out.refusal, result);
      return result;
    } catch (again) {
      error = out.refusal ? refusedFor(out.refusal, again) : again;
    }
  }
  throw error;
}

function isTask({ method, params, peer }: Call, { upstream, tools }: ForwardContext): boolean {
  return upstream.hasToolTasks && method === 'tools/call' && tools.onlyAsTask(params['name'], peer.principal);
}

function callAsTask(
  call: Call,
  session: UpstreamSession,
  context: ForwardContext,
  params: JsonObject,
): Promise<JsonObject> {
  // PROG-011: a task reports progress with the token that it was started with.
  const progressToken = call.wantsProgress ? randomUUID() : undefined;
  return runAsTask(
    {
      make: async (method, ofTask) => {
        const out = new ForwardedCall(call, ofTask, session.owner, context, { method, progressToken });
        const result = await session.caller.call(out).catch((error: unknown) => {
          throw out.refusal ? refusedFor(out.refusal, error) : error;
        });
        if (out.refusal && result['isError'] === true) throw refusedFor(out.refusal, result);
        return result;
      },
      cancel: (method, ofTask) => {
        const { timeoutMs } = context;
        return session.caller.call({ method, params: ofTask, timeoutMs, maxTimeoutMs: timeoutMs });
      },
    },
    params,
    call.cancellation,
  );
}

/** How often the user may be sent to pages for one call. */
const MAX_VISITS = 8;
