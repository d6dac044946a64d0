import { randomUUID } from 'node:crypto';
import { IsthmusError, ProtocolError } from '../../errors.js';
import type { Peer } from '../../exchange/call.js';
import { OutboundRequests } from '../../exchange/outbound-requests.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  type DecodedError,
  type DecodedResult,
  isJsonObject,
  type JsonObject,
  notificationMessage,
  type RequestId,
  requestMessage,
} from '../../wire/json-rpc.js';
import type { InputRequest, InputResponse } from '../../wire/model.js';
import { isQuestion } from '../answers.js';
import { answerProblem, capabilityNames, missingCapability } from '../input-rounds.js';
import type { LegacyRevision } from '../revisions.js';
import type { ServerDialectContext } from '../server-dialect-context.js';
import { projectQuestion } from './project-questions.js';

/** The requests that a legacy server sends to its client: questions of handlers, and pings. */
export class ServerQuestions {
  readonly #side: ServerDialectContext;
  readonly #peer: Peer;
  readonly #revision: LegacyRevision;
  /** Made for the first request: most sessions have none. */
  #sent: OutboundRequests | undefined;
  #failure: IsthmusError | undefined;
  /** INIT-006: questions wait until the client has sent `notifications/initialized`. */
  #ready = false;
  #heldBack: Map<RequestId, () => void> | undefined;
  #stopPinging: (() => void) | undefined;
  #pinging = false;

  constructor(side: ServerDialectContext, peer: Peer, revision: LegacyRevision) {
    this.#side = side;
    this.#peer = peer;
    this.#revision = revision;
  }

  /** Whether any is still unanswered. */
  get open(): boolean {
    return this.#sent !== undefined && this.#sent.size > 0;
  }

  /** The client is ready for questions. */
  begin(): void {
    this.#ready = true;
    for (const send of this.#heldBack?.values() ?? []) send();
    this.#heldBack = undefined;
    this.#startPinging();
  }

  /** Sends a question as the revision can express it; the signal cancels it. */
  async ask(
    question: InputRequest,
    signal: AbortSignal,
    about: RequestId | undefined,
  ): Promise<InputResponse> {
    const { method } = question;
    const missing = missingCapability(question, this.#peer.capabilities);
    if (missing) {
      throw new IsthmusError('CAPABILITY_MISSING', `The client did not declare ${capabilityNames(missing)}`);
    }
    const projected = projectQuestion(question, this.#revision, randomUUID);
    if (projected.kind === 'inexpressible') throw new IsthmusError('CAPABILITY_MISSING', projected.why);
    const { askTimeoutMs } = this.#side.settings;
    const answer = await this.#request(method, projected.params, askTimeoutMs, signal, about).catch(
      (error: unknown) => {
        throw error instanceof ProtocolError ? refusedByPeer(method, error) : error;
      },
    );
    const problem = isQuestion(method) ? answerProblem(question, answer) : undefined;
    if (problem !== undefined) {
      throw new ProtocolError(ErrorCode.InvalidParams, `The client's answer to ${method} ${problem}`);
    }
    return answer as InputResponse;
  }

  /** False if no question waits for this answer. */
  settle(answer: DecodedResult | DecodedError): boolean {
    return this.#sent?.settle(answer) ?? false;
  }

  /** The client reported progress on a question. */
  extend(token: RequestId): void {
    this.#sent?.extend(token);
  }

  stopPinging(): void {
    this.#pinging = false;
    this.#stopPinging?.();
  }

  /** No answer can come any more. */
  fail(error: IsthmusError): void {
    this.#failure ??= error;
    this.#sent?.fail(error);
  }

  get #requests(): OutboundRequests {
    if (!this.#sent) {
      const { connection, settings } = this.#side;
      const { epoch = 1 } = connection;
      this.#sent = new OutboundRequests(settings.clock, undefined, (epoch - 1) * IDS_OF_EPOCH);
      if (this.#failure) this.#sent.fail(this.#failure);
    }
    return this.#sent;
  }

  #request(
    method: string,
    params: JsonObject | undefined,
    timeoutMs: number,
    signal?: AbortSignal,
    about?: RequestId,
  ): Promise<JsonObject> {
    const { connection, calls } = this.#side;
    return this.#requests.request({
      what: method,
      timeoutMs,
      signal,
      send: (id) => {
        // The id is also the progress token, so that the client can extend the timeout.
        const meta = params?.['_meta'];
        const _meta = { ...(isJsonObject(meta) && meta), progressToken: id };
        const number = about === undefined ? undefined : connection.tap?.numberOf(about);
        if (number !== undefined) connection.tap?.relate('to-client', id, number);
        const send = () => connection.send(requestMessage(id, method, { ...params, _meta }), about);
        if (this.#ready) send();
        else {
          this.#heldBack ??= new Map();
          this.#heldBack.set(id, send);
        }
        calls.reviewInput();
      },
      giveUp: (requestId, reason) => {
        if (this.#heldBack?.delete(requestId)) return;
        connection.send(notificationMessage('notifications/cancelled', { requestId, reason }), about);
      },
    });
  }

  /** PING-002, PING-003: a client that does not answer pings is disconnected. */
  #startPinging(): void {
    const { settings, connection } = this.#side;
    if (settings.pingIntervalMs <= 0) return;
    const next = () => {
      if (!this.#pinging) return;
      this.#stopPinging = settings.clock.after(settings.pingIntervalMs, ping, { background: true });
    };
    const ping = () => {
      this.#request('ping', undefined, settings.pingIntervalMs).then(next, (error: unknown) => {
        if (error instanceof IsthmusError && error.code === 'TIMED_OUT') connection.close();
        else if (error instanceof ProtocolError) next();
      });
    };
    this.#pinging = true;
    next();
  }
}

/** Each process that has the session begins with other ids. */
const IDS_OF_EPOCH = 2 ** 32;

/** The epoch of the session in which a question with this id was asked. */
export function epochOfQuestion(id: RequestId): number {
  return typeof id === 'number' ? Math.floor(id / IDS_OF_EPOCH) + 1 : 1;
}

function refusedByPeer(method: string, error: ProtocolError): IsthmusError {
  const message = `The client refused ${method}: ${error.message} (${error.code})`;
  return new IsthmusError('REFUSED_BY_PEER', message, { cause: error });
}
