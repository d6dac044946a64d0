import type { Clock } from '../../async/clock.js';
import { type IsthmusError, ProtocolError } from '../../errors.js';
import type { ServerFacts } from '../../exchange/call.js';
import type { OutboundRequests } from '../../exchange/outbound-requests.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  errorMessage,
  isRequestId,
  type JsonObject,
  notificationMessage,
  type RequestId,
  requestMessage,
  resultMessage,
} from '../../wire/json-rpc.js';
import type { InputRequest, LoggingLevel } from '../../wire/model.js';
import {
  type ClientDialect,
  type ClientDialectContext,
  report,
  type Tenant,
  type TenantCaller,
  tell,
} from '../client-dialect-context.js';
import { reaches, toLog } from '../reports.js';
import type { LegacyRevision } from '../revisions.js';
import { changeOf } from '../subscriptions.js';
import { CallAttribution } from './call-attribution.js';
import { LegacyQuestions } from './client-questions.js';
import { LegacySubscriptions } from './client-subscriptions.js';
import { Scopes } from './scopes.js';
import { LegacyTenantCaller } from './tenant-caller.js';

/** What the voices on a legacy session share. */
export interface LegacyLine {
  readonly revision: LegacyRevision;
  readonly server: ServerFacts;
  readonly clock: Clock;
  readonly requests: OutboundRequests;
  readonly subscriptions: LegacySubscriptions;
  readonly turns: CallAttribution;
  readonly scopes: Scopes;
  /** Whether there may be several voices. */
  readonly isShared: boolean;
  sendRequest(id: RequestId, method: string, params: JsonObject): void;
  cancel(id: RequestId, reason: string): void;
  setLogLevel(speaker: LegacyTenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void>;
  /** Whether the session logs from this level on already, or cannot be made to. */
  isTalkative(level: LoggingLevel): boolean;
  raiseLogLevel(speaker: LegacyTenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void>;
  rootsChanged(): void;
  left(speaker: LegacyTenantCaller, error: IsthmusError): void;
}

/** The legacy era, calling: one session per connection; the server may ask at any time. */
export class LegacyClientDialect implements ClientDialect, LegacyLine {
  readonly era = 'legacy';
  readonly revision: LegacyRevision;
  readonly server: ServerFacts;
  readonly clock: Clock;
  readonly requests: OutboundRequests;
  readonly subscriptions: LegacySubscriptions;
  readonly turns: CallAttribution;
  readonly scopes: Scopes;
  readonly isShared: boolean;
  readonly #side: ClientDialectContext;
  readonly #speakers = new Set<LegacyTenantCaller>();
  readonly #questions: LegacyQuestions;
  /** The level that the session has. */
  #applied: { readonly level: LoggingLevel; readonly done: Promise<unknown> } | undefined;
  /** Who has ever set a level. */
  readonly #talkative = new WeakSet<LegacyTenantCaller>();
  #talkativeCount = 0;

  constructor(
    side: ClientDialectContext,
    requests: OutboundRequests,
    revision: LegacyRevision,
    server: ServerFacts,
  ) {
    this.#side = side;
    this.clock = side.clock;
    this.requests = requests;
    this.revision = revision;
    this.server = server;
    this.isShared = side.questions !== undefined;
    this.turns = new CallAttribution(side.questions ?? 'refuse', side.clock, {
      onRest: (turn) =>
        turn.rests?.rest(turn.call!, (error) => turn.id !== undefined && requests.giveUp(turn.id, error)),
      onResume: (turn) => turn.rests?.resume(turn.call!),
    });
    this.scopes = new Scopes(side.clock);
    this.#questions = new LegacyQuestions(side, requests, this, this.#speakers);
    this.subscriptions = new LegacySubscriptions(
      server.capabilities,
      this.clock,
      (method, uri, timeoutMs, signal) => this.#plain(method, { uri }, timeoutMs, signal),
    );
  }

  join(voice: Tenant, hidden = false): TenantCaller {
    const speaker = new LegacyTenantCaller(voice, this, hidden);
    if (hidden) return speaker;
    this.#speakers.add(speaker);
    this.#questions.joined();
    return speaker;
  }

  left(speaker: LegacyTenantCaller, error: IsthmusError): void {
    this.#speakers.delete(speaker);
    this.#questions.refuse(speaker, error);
    if (speaker.logLevel === undefined || this.#speakers.size === 0) return;
    // There is no way to say "as before"; this is what servers without an order are expected to send.
    const level = this.#wantedLevel() ?? 'info';
    if (level !== this.#applied?.level) this.#apply(level, QUIET_MS).catch(() => {});
  }

  sendRequest(id: RequestId, method: string, params: JsonObject): void {
    this.#side.connection.send(requestMessage(id, method, params));
  }

  cancel(requestId: RequestId, reason: string): void {
    this.#side.connection.send(notificationMessage('notifications/cancelled', { requestId, reason }));
  }

  rootsChanged(): void {
    this.#side.connection.send(notificationMessage('notifications/roots/list_changed'));
  }

  async setLogLevel(speaker: LegacyTenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void> {
    const before = speaker.logLevel;
    speaker.logLevel = level;
    if (!this.#talkative.has(speaker)) this.#talkativeCount += 1;
    this.#talkative.add(speaker);
    const wanted = this.#wantedLevel()!;
    const shared = this.#speakers.size > 1 && wanted === this.#applied?.level;
    try {
      // Whoever wants the same waits for the same answer.
      await (shared ? this.#applied!.done : this.#apply(wanted, timeoutMs));
    } catch (error) {
      speaker.logLevel = before;
      throw error;
    }
  }

  isTalkative(level: LoggingLevel): boolean {
    if (!this.server.capabilities.logging) return true;
    return this.#applied !== undefined && reaches(level, this.#applied.level);
  }

  /** Each filters what it gets; so nobody minds that the session says more than that. */
  async raiseLogLevel(speaker: LegacyTenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void> {
    const before = speaker.logLevel;
    await this.setLogLevel(speaker, level, timeoutMs).catch((error) => {
      if (!(error instanceof ProtocolError)) throw error;
      // It said no once; it is not asked again for every call.
      speaker.logLevel = before ?? level;
      this.#applied ??= { level, done: Promise.resolve() };
    });
  }

  request(request: DecodedRequest, about?: RequestId): void {
    const { id, method, params } = request;
    if (method === 'ping') return this.#side.connection.send(resultMessage(id, {}));
    if (!QUESTIONS.has(method)) {
      const error = { code: ErrorCode.MethodNotFound, message: `Method not found: ${method}` };
      return this.#side.connection.send(errorMessage(id, error));
    }
    void this.#questions.answer(id, { method, params: params ?? {} } as InputRequest, about);
  }

  notification(notification: DecodedNotification, about?: RequestId): void {
    const { method, params = {} } = notification;
    switch (method) {
      case 'notifications/progress':
        if (this.requests.progress(params)) return;
        break;
      case 'notifications/message':
        return this.#log(params, about);
      case 'notifications/cancelled':
        if (isRequestId(params['requestId']) && this.#questions.takeBack(params['requestId'])) return;
        break;
      case 'notifications/elicitation/complete':
        return this.#elicited(params['elicitationId']);
      default: {
        const change = changeOf(method, params);
        if (change) {
          this.#side.onChange(change);
          return this.subscriptions.deliver(change);
        }
      }
    }
    report(this.#side, 'a notification that matches nothing', notification);
  }

  response(response: DecodedResult | DecodedError): void {
    if (this.requests.settle(response)) return;
    if (response.id !== undefined) this.turns.answered(response.id);
    report(this.#side, 'an answer to no open request', response);
  }

  ended(error: IsthmusError): void {
    this.subscriptions.ended(error);
    this.turns.refuse(error.with({ sent: 'no' }));
    this.#questions.ended(error);
  }

  /** It does not say who was asked; those who speak for others know whom they asked. */
  #elicited(id: unknown): void {
    if (typeof id !== 'string') return;
    for (const { voice } of this.#speakers) tell('onElicited', voice.onElicited, id);
  }

  #plain(method: string, params: JsonObject, timeoutMs: number, signal?: AbortSignal): Promise<JsonObject> {
    return this.requests.request({
      what: method,
      owner: this,
      timeoutMs,
      maxTimeoutMs: timeoutMs,
      signal,
      send: (id) => this.sendRequest(id, method, params),
      giveUp: (id, reason) => this.cancel(id, reason),
    });
  }

  async #apply(level: LoggingLevel, timeoutMs: number): Promise<void> {
    const before = this.#applied;
    const applied = { level, done: this.#plain('logging/setLevel', { level }, timeoutMs) };
    this.#applied = applied;
    try {
      await applied.done;
    } catch (error) {
      if (this.#applied === applied) this.#applied = before;
      throw error;
    }
  }

  /** The most talkative level that anybody wants. */
  #wantedLevel(): LoggingLevel | undefined {
    let wanted: LoggingLevel | undefined;
    for (const { logLevel } of this.#speakers) {
      if (logLevel !== undefined && (wanted === undefined || reaches(wanted, logLevel))) wanted = logLevel;
    }
    return wanted;
  }

  /** A log names no request. It belongs to the only voice that has a call in flight, or to none. */
  #log(params: JsonObject, about: RequestId | undefined): void {
    // Over HTTP it comes on the stream of the request that it belongs to.
    const told = about === undefined ? undefined : this.requests.get(about);
    if (told?.behalf) return told.onLog?.(params);
    // Whose it is would be a guess between principals: then it is for the operator only.
    const speaker = this.scopes.areSeveral ? undefined : this.#logOwner();
    if (!speaker) return tell('onLog', this.#side.onLog, toLog(params));
    // Another voice may have made the session more talkative than this one wants it, and may be gone by now.
    const byOthers = this.#talkativeCount > (this.#talkative.has(speaker) ? 1 : 0);
    speaker.log(params, byOthers);
  }

  #logOwner(): LegacyTenantCaller | undefined {
    if (this.#speakers.size === 1) {
      const [only] = this.#speakers;
      const isOther = this.turns.lingersOfOthers(only!) || this.scopes.mayBeOther(only!.voice.principal);
      return isOther ? undefined : only;
    }
    const inFlight = new Set(this.requests.open().map(({ owner }) => owner));
    const [owner, another] = [...this.#speakers].filter((speaker) => inFlight.has(speaker));
    return owner && !another && !this.turns.lingersOfOthers(owner) ? owner : undefined;
  }
}

const QUESTIONS: ReadonlySet<string> = new Set([
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
]);

/** For what nobody waits for. */
const QUIET_MS = 10_000;
