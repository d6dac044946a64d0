import { IsthmusError, messageOf, ProtocolError } from '../../errors.js';
import type { Caller, Change, OpenListen, OutgoingCall, ServerFacts } from '../../exchange/call.js';
import type { OutboundRequests } from '../../exchange/outbound-requests.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  errorMessage,
  isJsonObject,
  isRequestId,
  type JsonObject,
  notificationMessage,
  type RequestId,
  requestMessage,
  resultMessage,
} from '../../wire/json-rpc.js';
import type { InputRequest, LoggingLevel, SubscriptionFilter } from '../../wire/model.js';
import { type Answers, answerQuestion } from '../answers.js';
import { type ClientDialect, type ClientSide, mayExtend, report, tell } from '../client-side.js';
import { changeOf } from '../notifications.js';
import { toLog, toProgress } from '../reports.js';
import type { LegacyRevision } from '../revisions.js';
import { LegacySubscriptions } from './client-subscriptions.js';

/** The legacy era, calling: one session per connection; the server may ask at any time. */
export class LegacyClientDialect implements Caller, ClientDialect {
  readonly era = 'legacy';
  readonly revision: LegacyRevision;
  readonly server: ServerFacts;
  readonly #side: ClientSide;
  readonly #requests: OutboundRequests;
  readonly #subscriptions: LegacySubscriptions;
  /** Questions of the server that are being answered. */
  readonly #asked = new Map<RequestId, AbortController>();

  constructor(side: ClientSide, requests: OutboundRequests, revision: LegacyRevision, server: ServerFacts) {
    this.#side = side;
    this.#requests = requests;
    this.revision = revision;
    this.server = server;
    this.#subscriptions = new LegacySubscriptions(server.capabilities, (method, uri, timeoutMs) =>
      this.#plain(method, { uri }, timeoutMs),
    );
  }

  call(call: OutgoingCall): Promise<JsonObject> {
    const { connection } = this.#side;
    return this.#requests.request({
      what: call.method,
      timeoutMs: call.timeoutMs,
      maxTimeoutMs: call.maxTimeoutMs,
      signal: call.signal,
      send: (id) => {
        const params = mayExtend(call)
          ? {
              ...call.params,
              _meta: { ...(isJsonObject(call.params['_meta']) && call.params['_meta']), progressToken: id },
            }
          : call.params;
        connection.send(requestMessage(id, call.method, params));
      },
      giveUp: (requestId, reason) => {
        connection.send(notificationMessage('notifications/cancelled', { requestId, reason }));
      },
      onProgress: call.onProgress && ((update) => tell('onProgress', call.onProgress, toProgress(update))),
      onLog: call.onLog && ((entry) => tell('onLog', call.onLog, toLog(entry))),
    });
  }

  listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
  ): Promise<OpenListen> {
    return this.#subscriptions.open(wanted, onChange, timeoutMs);
  }

  async setLogLevel(level: LoggingLevel, timeoutMs: number): Promise<void> {
    await this.#plain('logging/setLevel', { level }, timeoutMs);
  }

  request(request: DecodedRequest): void {
    const { id, method, params } = request;
    if (method === 'ping') return this.#side.connection.send(resultMessage(id, {}));
    if (!QUESTIONS.has(method)) {
      const error = { code: ErrorCode.MethodNotFound, message: `Method not found: ${method}` };
      return this.#side.connection.send(errorMessage(id, error));
    }
    void this.#answer(id, { method, params: params ?? {} } as InputRequest);
  }

  notification(notification: DecodedNotification): void {
    const { method, params = {} } = notification;
    switch (method) {
      case 'notifications/progress':
        if (this.#requests.progress(params)) return;
        break;
      case 'notifications/message':
        return this.#log(params);
      case 'notifications/cancelled': {
        const asked = isRequestId(params['requestId']) ? this.#asked.get(params['requestId']) : undefined;
        if (!asked) break;
        asked.abort(new IsthmusError('CANCELLED', 'the server took its question back'));
        return;
      }
      default: {
        const change = changeOf(method, params);
        if (change) {
          this.#side.onChange(change);
          return this.#subscriptions.deliver(change);
        }
      }
    }
    report(this.#side, 'a notification that matches nothing', notification);
  }

  response(response: DecodedResult | DecodedError): void {
    if (!this.#requests.settle(response)) report(this.#side, 'an answer to no open request', response);
  }

  ended(error: Error): void {
    this.#subscriptions.ended(error);
    for (const asked of this.#asked.values()) asked.abort(error);
  }

  #plain(method: string, params: JsonObject, timeoutMs: number): Promise<JsonObject> {
    return this.call({ method, params, timeoutMs, maxTimeoutMs: timeoutMs });
  }

  async #answer(id: RequestId, question: InputRequest): Promise<void> {
    const { connection, answers } = this.#side;
    const over = new AbortController();
    this.#asked.set(id, over);
    // The wire does not say which call the question belongs to; none of them is to pay for the time it takes.
    this.#requests.suspend();
    try {
      const answer = await answerQuestion(answers, question, over.signal);
      if (!over.signal.aborted) connection.send(resultMessage(id, answer as unknown as JsonObject));
    } catch (error) {
      if (!over.signal.aborted)
        connection.send(errorMessage(id, refusal(error, isDeclared(question, answers))));
    } finally {
      this.#asked.delete(id);
      this.#requests.goOn();
    }
  }

  /** A log names no request: it belongs to the only call that wants logs, or to the connection. */
  #log(params: JsonObject): void {
    const wanting = this.#requests.open().filter((open) => open.onLog);
    if (wanting.length === 1) wanting[0]!.onLog!(params);
    else tell('onLog', this.#side.onLog, toLog(params));
  }
}

const QUESTIONS: ReadonlySet<string> = new Set([
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
]);

function refusal(error: unknown, declared: boolean): { code: number; message: string; data?: unknown } {
  if (error instanceof ProtocolError) return { code: error.code, message: error.message, data: error.data };
  if (!(error instanceof IsthmusError) || error.code !== 'CANNOT_ANSWER') {
    return { code: ErrorCode.InternalError, message: messageOf(error) };
  }
  // ELIC-026, SAMP-004: a feature that was declared, in a mode that was not.
  return { code: declared ? ErrorCode.InvalidParams : ErrorCode.MethodNotFound, message: error.message };
}

function isDeclared({ method }: InputRequest, answers: Answers): boolean {
  switch (method) {
    case 'elicitation/create':
      return answers.elicit !== undefined;
    case 'sampling/createMessage':
      return answers.sample !== undefined;
    case 'roots/list':
      return answers.roots !== undefined;
  }
}
