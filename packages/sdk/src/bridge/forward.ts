import type { TenantCaller } from '../era/client/tenant-caller.js';
import { META } from '../era/meta-keys.js';
import { ProtocolError } from '../errors.js';
import type { Call, Era } from '../exchange/call.js';
import { LateResult, type ResultListener } from '../exchange/late-result.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import { deriveText } from '../wire/result-text.js';
import { carriedPage, carriedParams, type ForwardContext, ForwardedCall } from './forwarded-call.js';
import { refusedFor, serverAnswerIn } from './server-answer.js';
import { noteRefusal } from './session-changes.js';
import { againIfTaskOnly, readTools, runAsTask, wantsTask } from './tasks/run-as-task.js';
import type { UpstreamTask } from './tasks/task-note.js';
import { followUpstreamTask, resumeUpstreamTask } from './tasks/upstream-task.js';
import { cleaned, toClientError } from './upstream-errors.js';
import { asksForPages, type UpstreamTools, visitPages } from './upstream-facts.js';
import {
  enterSession,
  exitSession,
  type UpstreamSession,
  type UpstreamSessions,
} from './upstream-sessions.js';

/** Makes a call of a client to the upstream. Its result has the form for this client. */
export function forward(
  call: Call,
  sessions: UpstreamSessions,
  context: ForwardContext,
): LateResult | Promise<JsonObject> {
  const { era } = context.upstream;
  let session: UpstreamSession;
  try {
    session = sessions.of(call, era);
  } catch (error) {
    return Promise.reject(cleaned(toClientError(error, call, era), context.clean));
  }
  const forwarding = new Forwarding(call, session, context);
  const connection = session.caller.ready;
  if (connection) forwarding.begin(connection);
  else forwarding.beginLater();
  return forwarding.outcome;
}

/** Follows a task of the upstream that another process has begun for a client. */
export async function resume(
  task: UpstreamTask,
  call: Call,
  sessions: UpstreamSessions,
  context: ForwardContext,
): Promise<JsonObject> {
  const forwarding = new Forwarding(call, sessions.of(call, task.era), context);
  forwarding.resume(task);
  return forwarding.outcome;
}

/** A call on its way to the upstream and back. */
class Forwarding implements ResultListener {
  readonly outcome = new LateResult();
  readonly #call: Call;
  readonly #session: UpstreamSession;
  readonly #context: ForwardContext;
  #connection: TenantCaller | undefined;
  #out: ForwardedCall | undefined;
  #began = 0;
  /** The list of tools was read for this call. */
  #hasRead = false;

  constructor(call: Call, session: UpstreamSession, context: ForwardContext) {
    this.#call = call;
    this.#session = session;
    this.#context = context;
    enterSession(session, call);
  }

  /** The era may have changed since the last connection, so nothing that depends on it is done before. */
  beginLater(): void {
    this.#session.caller.connected({ signal: this.#call.cancellation }).then(
      (connection) => this.begin(connection),
      (error: unknown) => this.#failed(error),
    );
  }

  begin(connection: TenantCaller): void {
    const call = this.#call;
    const session = this.#session;
    const context = this.#context;
    this.#connection = connection;
    try {
      const { era } = connection;
      const params = carriedParams(call, era);
      if (era === 'modern') continueRound(call, params);
      else refuseLegacy(call);
      if (era === 'legacy') {
        if (!this.#hasRead && mustReadTools(call, context)) return this.#readTools(connection);
        if (isTask(call, context, this.#hasRead))
          return this.#follow(runAsTask(call, params, session, context));
      }
      this.#out = new ForwardedCall(call, params, session.owner, context);
      this.#began = session.caller.now();
      connection.callFor(this, this.#out);
    } catch (error) {
      this.#failed(error);
    }
  }

  resume(task: UpstreamTask): void {
    this.#follow(resumeUpstreamTask(task, this.#call, this.#session, this.#context));
  }

  get #era(): Era {
    return this.#connection?.era ?? this.#context.upstream.era;
  }

  /** Without the list the call is a plain one. */
  #readTools(connection: TenantCaller): void {
    this.#hasRead = true;
    readTools(this.#call, this.#session, this.#context)
      .catch(() => {})
      .then(() => this.begin(connection));
  }

  /** The upstream has answered. */
  complete(result: JsonObject): void {
    const refusal = this.#out?.refusal;
    if (refusal && result['isError'] === true) this.#failed(refusedFor(refusal, result));
    else if (result['resultType'] === 'task' && this.#connection!.era === 'modern')
      this.#follow(followUpstreamTask(result, this.#call, this.#session, this.#context));
    else if (result['isError'] === true && mayBeTaskOnly(this.#call, this.#context))
      this.#follow(againIfTaskOnly(result, this.#call, this.#out!.params, this.#session, this.#context));
    else this.#succeeded(result);
  }

  /** The upstream has answered with an error, or not at all. */
  fail(error: unknown): void {
    this.#follow(this.#recover(error, this.#out!, this.#connection!));
  }

  async #recover(error: unknown, out: ForwardedCall, connection: TenantCaller): Promise<JsonObject> {
    const { era } = connection;
    const call = this.#call;
    const { caller } = this.#session;
    if (out.refusal) throw refusedFor(out.refusal, error);
    const answer = era === 'modern' && call.peer.era === 'legacy' ? serverAnswerIn(error) : undefined;
    if (answer instanceof ProtocolError) throw answer;
    if (answer) return answer;
    if (era === 'legacy' && error instanceof ProtocolError) {
      return callDifferently(error, call, this.#session, this.#context, out.params);
    }
    return caller.again(error, out, connection, this.#began);
  }

  #follow(result: Promise<JsonObject>): void {
    result.then(
      (last) => this.#succeeded(last),
      (error: unknown) => this.#failed(error),
    );
  }

  #succeeded(result: JsonObject): void {
    let own: JsonObject;
    try {
      own = carried(result, this.#call, this.#era, this.#context.tools);
    } catch (error) {
      return this.#failed(error);
    }
    exitSession(this.#session, this.#call);
    this.outcome.complete(own);
  }

  #failed(error: unknown): void {
    exitSession(this.#session, this.#call);
    noteRefusal(this.#session.owner, error);
    this.outcome.fail(cleaned(toClientError(error, this.#call, this.#era), this.#context.clean));
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
  const learned = call.method === 'tools/list' ? tools.learn(result, call.peer) : result;
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
  const mayBeTask = call.method === 'tools/call' && context.upstream.tasks === 'legacy';
  if (mayBeTask && wantsTask(refusal)) return runAsTask(call, params, session, context);
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

/** Whether a legacy upstream is asked to run the call as a task. `isOpen`: the call can still become a task. */
function isTask(
  { method, params, peer, task }: Call,
  { upstream, tools }: ForwardContext,
  isOpen: boolean,
): boolean {
  if (upstream.tasks !== 'legacy' || method !== 'tools/call') return false;
  const support = tools.taskSupport(params['name'], peer.principal);
  return support === 'required' || (support === 'optional' && (isOpen || task?.id !== undefined));
}

/** The client takes a task, and the list that says which tools run as tasks was not read in this process. */
function mustReadTools({ method, peer, task }: Call, { upstream, tools }: ForwardContext): boolean {
  if (upstream.tasks !== 'legacy' || method !== 'tools/call') return false;
  return task !== undefined && task.id === undefined && !tools.isKnown(peer.principal);
}

/** Whether a tool error may mean that the tool runs only as a task: the list of tools has not been read. */
function mayBeTaskOnly({ method, peer }: Call, { upstream, tools }: ForwardContext): boolean {
  return upstream.tasks === 'legacy' && method === 'tools/call' && !tools.isKnown(peer.principal);
}

/** How often the user may be sent to pages for one call. */
const MAX_VISITS = 8;
