import { IsthmusError } from '../../errors.js';
import type { CallerIdentity, Change, OpenListen, OutgoingCall, ServerFacts } from '../../exchange/call.js';
import { isJsonObject, type JsonObject, type RequestId } from '../../wire/json-rpc.js';
import type {
  ClientCapabilities,
  Implementation,
  InputRequests,
  InputResponses,
  LogEntry,
  LoggingLevel,
  SubscriptionFilter,
} from '../../wire/model.js';
import { answerQuestion, capabilitiesOf } from '../answers.js';
import {
  type CallSuspender,
  mayExtend,
  type Tenant,
  type TenantCaller,
  tell,
} from '../client-dialect-context.js';
import { roundProblem } from '../input-rounds.js';
import { META } from '../meta-keys.js';
import { methodFacts } from '../methods.js';
import { toLog, toProgress } from '../reports.js';
import type { ModernRevision } from '../revisions.js';
import type { SharedModernConnection } from './client-dialect.js';

/** Makes the calls of one tenant of a modern connection. Each request has its identity and capabilities. */
export class ModernTenantCaller implements TenantCaller {
  readonly era = 'modern';
  readonly #tenant: Tenant;
  readonly #shared: SharedModernConnection;
  /** Built once; a call adds its progress token or log level. */
  readonly #meta: JsonObject;
  #logLevel: LoggingLevel | undefined;
  #left: IsthmusError | undefined;
  readonly #listens = new Set<OpenListen>();
  /** Rounds whose questions are being answered. */
  readonly #answering = new Set<AbortController>();

  constructor(tenant: Tenant, shared: SharedModernConnection) {
    this.#tenant = tenant;
    this.#shared = shared;
    this.#meta = envelope(
      { info: tenant.info, capabilities: capabilitiesOf(tenant.answers) },
      shared.revision,
    );
  }

  get revision(): ModernRevision {
    return this.#shared.revision;
  }

  get server(): ServerFacts {
    return this.#shared.server;
  }

  isAsked(): boolean {
    return this.#answering.size > 0;
  }

  call(call: OutgoingCall, suspender?: CallSuspender): Promise<JsonObject> {
    if (this.#left) return Promise.reject(this.#left);
    return call.manual ? this.#send(call, call.params) : this.#callInRounds(call, suspender);
  }

  async #callInRounds(call: OutgoingCall, suspender: CallSuspender | undefined): Promise<JsonObject> {
    const result = await this.#send(call, call.params);
    return result['resultType'] === 'input_required' ? this.#answerRounds(call, result, suspender) : result;
  }

  listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
    as?: CallerIdentity,
  ): Promise<OpenListen> {
    let id: RequestId = '';
    const stop = (reason: IsthmusError) => {
      if (this.#shared.requests.reject(id, reason)) this.#shared.cancel(id, reason.message);
    };
    const opened = this.#shared.listens.open(
      () => stop(new IsthmusError('CANCELLED', 'no longer needed')),
      (change) => {
        this.#shared.onChange(change);
        onChange(change);
      },
    );
    const ended = this.#shared.requests.request({
      what: 'subscriptions/listen',
      owner: this,
      timeoutMs: FOREVER_MS,
      send: (newId) => {
        id = newId;
        opened.begin(id);
        const params = { notifications: wanted, _meta: as ? this.#envelopeOf(as) : this.#meta };
        this.#shared.sendRequest(id, 'subscriptions/listen', params);
      },
      giveUp: (givenUp, why) => this.#shared.cancel(givenUp, why),
    });
    const callOff = this.#shared.clock.after(timeoutMs, () => {
      stop(new IsthmusError('TIMED_OUT', `subscriptions/listen was not acknowledged within ${timeoutMs} ms`));
    });
    void opened.acknowledged.catch(() => {}).finally(callOff);
    ended.then(
      () => this.#shared.listens.end(id, undefined),
      (error) => this.#shared.listens.end(id, error),
    );
    return opened.acknowledged.then((open) => this.#keep(open));
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    this.#logLevel = level;
  }

  leave(why: string): void {
    const error = new IsthmusError('CANCELLED', why, { sent: 'maybe' });
    this.#left = error.with({ sent: 'no' });
    this.#shared.left(this);
    for (const over of this.#answering) over.abort(error);
    // Subscriptions stop before the other requests are abandoned, so that their end is a regular one.
    for (const open of this.#listens) open.stop();
    this.#shared.requests.abandon(this, error);
  }

  /** Logs of this tenant that belong to no call. */
  log(entry: LogEntry): void {
    tell('onLog', this.#tenant.onLog, entry);
  }

  /** Calls between two rounds have no request in flight, so they are ended here. */
  ended(error: Error): void {
    for (const over of this.#answering) over.abort(error);
  }

  #keep(open: OpenListen): OpenListen {
    this.#listens.add(open);
    void open.ended.then(() => this.#listens.delete(open));
    return open;
  }

  async #send(call: OutgoingCall, params: JsonObject): Promise<JsonObject> {
    const shared = this.#shared;
    const wantsLogs = this.#levelOf(call) !== undefined;
    const result = await shared.requests.request({
      what: call.method,
      owner: this,
      behalf: call.behalf,
      timeoutMs: call.timeoutMs,
      maxTimeoutMs: call.maxTimeoutMs,
      signal: call.signal,
      send: (id) => shared.sendRequest(id, call.method, this.#withMeta(call, params, id)),
      giveUp: (id, reason) => {
        // For calls on behalf of clients: one client must not withhold the logs of all the others.
        if (wantsLogs && !call.behalf) shared.gaveUp(id, this);
        shared.cancel(id, reason);
      },
      onProgress: call.onProgress && ((update) => tell('onProgress', call.onProgress, toProgress(update))),
      onLog: call.onLog && ((entry) => tell('onLog', call.onLog, toLog(entry))),
      wantsLogs,
    });
    checkResultType(call.method, result);
    return result;
  }

  /** A call with `onLog` wants logs; its own level, or that of the tenant, says which. */
  #levelOf(call: OutgoingCall): LoggingLevel | undefined {
    return call.logLevel ?? this.#logLevel ?? (call.onLog ? 'info' : undefined);
  }

  #withMeta(call: OutgoingCall, params: JsonObject, id: RequestId): JsonObject {
    const level = this.#levelOf(call);
    const wantsProgress = mayExtend(call);
    const { _meta: own } = params;
    const said = call.behalf ? this.#envelopeOf(call.behalf) : this.#meta;
    // The literal member comes before the spread: the other order costs several times as much per call.
    if (!wantsProgress && level === undefined && own === undefined) return { _meta: said, ...params };
    // The progress token is the id, never one from the params: that could be the id of another request.
    const { progressToken, ...rest } = isJsonObject(own) ? own : {};
    const _meta = {
      ...rest,
      ...said,
      ...(wantsProgress && { progressToken: id }),
      ...(level !== undefined && { [META.logLevel]: level }),
    };
    return { ...params, _meta };
  }

  #envelopeOf({ info = this.#tenant.info, capabilities }: CallerIdentity): JsonObject {
    return envelope({ info, capabilities }, this.#shared.revision);
  }

  /** MRTR-016 … MRTR-024: answers in parallel, returns the state unchanged, and never sends an older one. */
  async #answerRounds(
    call: OutgoingCall,
    first: JsonObject,
    suspender: CallSuspender | undefined,
  ): Promise<JsonObject> {
    call.onRound?.();
    let round = first;
    for (let count = 0; count < this.#shared.maxRounds; count += 1) {
      const { inputRequests, requestState } = round;
      const inputResponses = await this.#answer(call, inputRequests, suspender);
      const result = await this.#send(call, {
        ...call.params,
        ...(inputRequests !== undefined && { inputResponses }),
        ...(requestState !== undefined && { requestState }),
      });
      if (result['resultType'] !== 'input_required') return result;
      round = result;
    }
    throw new IsthmusError(
      'TOO_MANY_ROUNDS',
      `${call.method} asked for input ${this.#shared.maxRounds} times, which is the limit`,
      { sent: 'maybe' },
    );
  }

  async #answer(
    call: OutgoingCall,
    requests: unknown,
    suspender: CallSuspender | undefined,
  ): Promise<InputResponses> {
    const questions = Object.entries(isJsonObject(requests) ? (requests as InputRequests) : {});
    const over = new AbortController();
    this.#answering.add(over);
    const abort = () =>
      over.abort(
        new IsthmusError('CANCELLED', `${call.method} was cancelled`, {
          cause: call.signal?.reason,
          sent: 'maybe',
        }),
      );
    if (call.signal?.aborted) abort();
    call.signal?.addEventListener('abort', abort, { once: true });
    suspender?.suspend(call, (error) => over.abort(error));
    try {
      const answered = questions.map(async ([key, request]) => {
        return [key, await answerQuestion(this.#tenant.answers, request, over.signal)] as const;
      });
      const entries = await Promise.race([Promise.all(answered), rejectOnAbort(over.signal)]);
      suspender?.resume(call);
      return Object.fromEntries(entries);
    } catch (error) {
      // The other questions are not needed any more.
      over.abort(error);
      throw error;
    } finally {
      this.#answering.delete(over);
      call.signal?.removeEventListener('abort', abort);
    }
  }
}

/** The `_meta` of every modern request; also used by the probe. */
export function envelope(
  who: { readonly info: Implementation; readonly capabilities: ClientCapabilities },
  revision: string,
): JsonObject {
  return {
    [META.protocolVersion]: revision,
    [META.clientInfo]: who.info,
    [META.clientCapabilities]: who.capabilities,
  };
}

/** Longer than any process lives: a subscription has no timeout. */
const FOREVER_MS = 2 ** 40;

/** RTYPE-003, RTYPE-004, MRTR-003. */
function checkResultType(method: string, result: JsonObject): void {
  const type = result['resultType'];
  if (type === undefined || type === 'complete') return;
  if (type === 'input_required' && methodFacts(method)?.rounds) {
    const problem = roundProblem(result);
    if (problem === undefined) return;
    throw new IsthmusError('INVALID_RESULT', `${method} was answered with a round that ${problem}`, {
      sent: 'maybe',
    });
  }
  throw new IsthmusError('INVALID_RESULT', `${method} was answered with resultType ${JSON.stringify(type)}`, {
    sent: 'maybe',
  });
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
