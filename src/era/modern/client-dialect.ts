import { IsthmusError } from '../../errors.js';
import type { Caller, Change, OpenListen, OutgoingCall, ServerFacts } from '../../exchange/call.js';
import type { OutboundRequests } from '../../exchange/outbound-requests.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  isJsonObject,
  isRequestId,
  type JsonObject,
  notificationMessage,
  type RequestId,
  requestMessage,
} from '../../wire/json-rpc.js';
import type { InputRequests, InputResponses, LoggingLevel, SubscriptionFilter } from '../../wire/model.js';
import { answerQuestion, capabilitiesOf } from '../answers.js';
import { type ClientDialect, type ClientSide, mayExtend, report, tell } from '../client-side.js';
import { roundProblem } from '../input-rounds.js';
import { META } from '../meta-keys.js';
import { methodFacts } from '../methods.js';
import { toLog, toProgress } from '../reports.js';
import type { ModernRevision } from '../revisions.js';
import { ClientListens } from './client-listens.js';

/** The modern era, calling: every request carries its own version, identity and capabilities. */
export class ModernClientDialect implements Caller, ClientDialect {
  readonly era = 'modern';
  readonly revision: ModernRevision;
  readonly server: ServerFacts;
  readonly #side: ClientSide;
  readonly #requests: OutboundRequests;
  readonly #listens: ClientListens;
  /** Built once; a call adds its token or level. */
  readonly #meta: JsonObject;
  #logLevel: LoggingLevel | undefined;
  /** Rounds whose questions are being answered. */
  readonly #answering = new Set<AbortController>();

  constructor(side: ClientSide, requests: OutboundRequests, revision: ModernRevision, server: ServerFacts) {
    this.#side = side;
    this.#requests = requests;
    this.revision = revision;
    this.server = server;
    this.#meta = envelope(side, revision);
    this.#listens = new ClientListens();
  }

  async call(call: OutgoingCall): Promise<JsonObject> {
    const result = await this.#send(call, call.params);
    return result['resultType'] === 'input_required' && !call.manual
      ? this.#answerRounds(call, result)
      : result;
  }

  listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
  ): Promise<OpenListen> {
    let id: RequestId = '';
    const stop = (reason: IsthmusError) => {
      const params = { requestId: id, reason: reason.message };
      if (this.#requests.reject(id, reason)) {
        this.#side.connection.send(notificationMessage('notifications/cancelled', params));
      }
    };
    const opened = this.#listens.open(
      () => stop(new IsthmusError('CANCELLED', 'no longer needed')),
      (change) => {
        this.#side.onChange(change);
        onChange(change);
      },
    );
    const ended = this.#requests.request({
      what: 'subscriptions/listen',
      timeoutMs: FOREVER_MS,
      send: (newId) => {
        id = newId;
        opened.begin(id);
        const params = { notifications: wanted, _meta: this.#meta };
        this.#side.connection.send(requestMessage(id, 'subscriptions/listen', params));
      },
      giveUp: () => {},
    });
    const callOff = this.#side.clock.after(timeoutMs, () => {
      stop(new IsthmusError('TIMED_OUT', `subscriptions/listen was not acknowledged within ${timeoutMs} ms`));
    });
    void opened.acknowledged.catch(() => {}).finally(callOff);
    ended.then(
      () => this.#listens.end(id, undefined),
      (error) => this.#listens.end(id, error),
    );
    return opened.acknowledged;
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    this.#logLevel = level;
  }

  /** JRPC-013: a modern server sends no requests. There is no way to answer one either (JRPC-014). */
  request(request: DecodedRequest): void {
    report(this.#side, 'a modern server sent a request', request);
  }

  notification(notification: DecodedNotification): void {
    const { method, params = {} } = notification;
    switch (method) {
      case 'notifications/progress':
        if (this.#requests.progress(params)) return;
        break;
      case 'notifications/message':
        return this.#log(params);
      case 'notifications/cancelled':
        // The other way in which servers end a listen (wire sheet §17).
        if (isRequestId(params['requestId']) && this.#listens.has(params['requestId'])) {
          this.#requests.settle({ kind: 'result', id: params['requestId'], result: {} });
          return;
        }
        break;
      default:
        if (this.#listens.deliver(method, params)) return;
    }
    report(this.#side, 'a notification that matches nothing', notification);
  }

  response(response: DecodedResult | DecodedError): void {
    if (!this.#requests.settle(response)) report(this.#side, 'an answer to no open request', response);
  }

  /** Calls between two rounds have no request in flight; they end here. */
  ended(error: Error): void {
    for (const over of this.#answering) over.abort(error);
  }

  async #send(call: OutgoingCall, params: JsonObject): Promise<JsonObject> {
    const { connection } = this.#side;
    const result = await this.#requests.request({
      what: call.method,
      timeoutMs: call.timeoutMs,
      maxTimeoutMs: call.maxTimeoutMs,
      signal: call.signal,
      send: (id) => connection.send(requestMessage(id, call.method, this.#withMeta(call, params, id))),
      giveUp: (requestId, reason) => {
        connection.send(notificationMessage('notifications/cancelled', { requestId, reason }));
      },
      onProgress: call.onProgress && ((update) => tell('onProgress', call.onProgress, toProgress(update))),
      onLog: call.onLog && ((entry) => tell('onLog', call.onLog, toLog(entry))),
      wantsLogs: this.#levelOf(call) !== undefined,
    });
    checkResultType(call.method, result);
    return result;
  }

  /** Whoever passes `onLog` wants logs; a level of its own, or of the client, says which. */
  #levelOf(call: OutgoingCall): LoggingLevel | undefined {
    return call.logLevel ?? this.#logLevel ?? (call.onLog ? 'info' : undefined);
  }

  #withMeta(call: OutgoingCall, params: JsonObject, id: RequestId): JsonObject {
    const level = this.#levelOf(call);
    const wantsProgress = mayExtend(call);
    const { _meta: own } = params;
    // The literal member before the spread: the other way round costs several times as much per call.
    if (!wantsProgress && level === undefined && own === undefined) return { _meta: this.#meta, ...params };
    const _meta = {
      ...(isJsonObject(own) && own),
      ...this.#meta,
      ...(wantsProgress && { progressToken: id }),
      ...(level !== undefined && { [META.logLevel]: level }),
    };
    return { ...params, _meta };
  }

  /** MRTR-016 … MRTR-024: answers in parallel, echoes the state exactly, never carries an older one along. */
  async #answerRounds(call: OutgoingCall, first: JsonObject): Promise<JsonObject> {
    call.onRound?.();
    let round = first;
    for (let count = 0; count < this.#side.maxRounds; count += 1) {
      const { inputRequests, requestState } = round;
      const inputResponses = await this.#answer(call, inputRequests);
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
      `${call.method} asked for input ${this.#side.maxRounds} times without an end`,
      { sent: 'maybe' },
    );
  }

  async #answer(call: OutgoingCall, requests: unknown): Promise<InputResponses> {
    const questions = Object.entries(isJsonObject(requests) ? (requests as InputRequests) : {});
    const over = new AbortController();
    this.#answering.add(over);
    const abort = () =>
      over.abort(
        new IsthmusError('CANCELLED', `${call.method} was called off`, {
          cause: call.signal?.reason,
          sent: 'maybe',
        }),
      );
    if (call.signal?.aborted) abort();
    call.signal?.addEventListener('abort', abort, { once: true });
    try {
      const answered = questions.map(async ([key, request]) => {
        return [key, await answerQuestion(this.#side.answers, request, over.signal)] as const;
      });
      const entries = await Promise.race([Promise.all(answered), rejectOnAbort(over.signal)]);
      return Object.fromEntries(entries);
    } catch (error) {
      // The others need not go on.
      over.abort(error);
      throw error;
    } finally {
      this.#answering.delete(over);
      call.signal?.removeEventListener('abort', abort);
    }
  }

  /** A log names no request: it belongs to the only one that asked for logs, or to the connection. */
  #log(params: JsonObject): void {
    const [only, another] = this.#requests.open().filter((open) => open.wantsLogs);
    if (only?.onLog && !another) only.onLog(params);
    else tell('onLog', this.#side.onLog, toLog(params));
  }
}

/** What every modern request carries; also used by the probe. */
export function envelope(side: Pick<ClientSide, 'info' | 'answers'>, revision: string): JsonObject {
  return {
    [META.protocolVersion]: revision,
    [META.clientInfo]: side.info,
    [META.clientCapabilities]: capabilitiesOf(side.answers),
  };
}

/** Longer than any process lives; a listen has no deadline of its own. */
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
