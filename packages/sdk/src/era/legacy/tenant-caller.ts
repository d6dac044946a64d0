import { IsthmusError } from '../../errors.js';
import type { Change, OpenListen, OutgoingCall, ServerFacts } from '../../exchange/call.js';
import { isJsonObject, type JsonObject, type RequestId } from '../../wire/json-rpc.js';
import type { LoggingLevel, SubscriptionFilter } from '../../wire/model.js';
import { mayExtend, type Rests, type Tenant, type TenantCaller, tell } from '../client-dialect-context.js';
import { methodFacts } from '../methods.js';
import { reaches, toLog, toProgress } from '../reports.js';
import type { LegacyRevision } from '../revisions.js';
import type { AttributableCall } from './call-attribution.js';
import type { LegacyLine } from './client-dialect.js';

/** One voice on a legacy session. */
export class LegacyTenantCaller implements TenantCaller {
  readonly era = 'legacy';
  readonly voice: Tenant;
  readonly #line: LegacyLine;
  #listens: Set<OpenListen> | undefined;
  #left: IsthmusError | undefined;
  /** What this voice asked for; the session has the most talkative level of all. */
  logLevel: LoggingLevel | undefined;

  /** What the host asks for itself belongs to no principal, so that nothing can be confused with it. */
  readonly #isHidden: boolean;

  constructor(voice: Tenant, line: LegacyLine, isHidden = false) {
    this.voice = voice;
    this.#line = line;
    this.#isHidden = isHidden;
  }

  get revision(): LegacyRevision {
    return this.#line.revision;
  }

  get server(): ServerFacts {
    return this.#line.server;
  }

  isAsked({ behalf }: OutgoingCall): boolean {
    return this.#line.turns.isAnswering(behalf?.owner ?? this);
  }

  call(call: OutgoingCall, rests?: Rests): Promise<JsonObject> {
    if (this.#left) return Promise.reject(this.#left);
    const { behalf, logLevel } = call;
    if (behalf && logLevel !== undefined && !this.#line.isTalkative(logLevel)) {
      return this.#sendLoud(call, rests);
    }
    return this.#call(call, rests);
  }

  #call(call: OutgoingCall, rests: Rests | undefined): Promise<JsonObject> {
    // Whose questions they are is clear where nobody else could have been meant.
    if (!this.#line.isShared || !mayBeAskedAbout(call.method)) return this.#send(call, undefined);
    const { turns } = this.#line;
    const key = `${call.method} ${String(call.params['name'] ?? call.params['uri'])}`;
    const turn = turns.enter(this, key, call.behalf);
    if (!turn) return this.#sendInTurn(call, key, rests);
    turn.call = call;
    turn.rests = rests;
    return this.#send(call, turn);
  }

  async listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
  ): Promise<OpenListen> {
    const open = await this.#line.subscriptions.open(wanted, onChange, timeoutMs);
    this.#listens ??= new Set();
    const listens = this.#listens;
    listens.add(open);
    void open.ended.then(() => listens.delete(open));
    return open;
  }

  setLogLevel(level: LoggingLevel, timeoutMs: number): Promise<void> {
    return this.#line.setLogLevel(this, level, timeoutMs);
  }

  rootsChanged(): void {
    this.#line.rootsChanged();
  }

  leave(why: string): void {
    const error = new IsthmusError('CANCELLED', why, { sent: 'maybe' });
    this.#left = error.with({ sent: 'no' });
    this.#line.left(this, error);
    this.#line.turns.refuse(this.#left, this);
    this.#line.requests.abandon(this, error);
    for (const open of this.#listens ?? []) open.stop();
  }

  /**
   * A log names no request: it belongs to the only call that wants logs, or to the voice. Where the voice speaks
   * for others, only to the calls of one of them, and only while no other has any.
   */
  log(params: JsonObject, byOthers: boolean): void {
    const entry = toLog(params);
    const isWanted = (level = this.logLevel ?? 'info') => !byOthers || reaches(entry.level, level);
    const open = this.#line.requests.open().filter(({ owner }) => owner === this);
    const [first] = open;
    if (first?.behalf && open.every(({ behalf }) => behalf?.owner === first.behalf!.owner)) {
      const told = open.find(({ onLog }) => onLog);
      if (told && isWanted(told.logLevel)) told.onLog?.(params);
      return;
    }
    if (!isWanted()) return;
    const wanting = open.filter(({ onLog, behalf }) => onLog && !behalf);
    if (wanting.length === 1) wanting[0]!.onLog!(params);
    else tell('onLog', this.voice.onLog, entry);
  }

  /** What the server refuses here is no reason to lose the call. */
  async #sendLoud(call: OutgoingCall, rests: Rests | undefined): Promise<JsonObject> {
    await this.#line.raiseLogLevel(this, call.logLevel!, call.timeoutMs);
    return this.#call(call, rests);
  }

  async #sendInTurn(call: OutgoingCall, key: string, rests: Rests | undefined): Promise<JsonObject> {
    const { turns, clock } = this.#line;
    const began = clock.now();
    rests?.rest(call);
    const turn = await turns.wait(this, key, call, call.behalf);
    rests?.resume(call);
    turn.call = call;
    turn.rests = rests;
    if (this.#left) {
      turns.leave(turn);
      throw this.#left;
    }
    const waited = clock.now() - began;
    const timeoutMs = Math.max(1, call.timeoutMs - waited);
    const maxTimeoutMs = Math.max(1, call.maxTimeoutMs - waited);
    return this.#send({ ...call, timeoutMs, maxTimeoutMs }, turn);
  }

  #send(call: OutgoingCall, turn: AttributableCall | undefined): Promise<JsonObject> {
    const { requests, turns, scopes, isShared } = this.#line;
    const isTold = isShared && !this.#isHidden;
    const scope = isTold ? scopes.enter(call.behalf?.principal ?? this.voice.principal) : undefined;
    return requests.request({
      what: call.method,
      owner: this,
      behalf: call.behalf,
      progressToken: call.progressToken,
      logLevel: call.logLevel,
      timeoutMs: call.timeoutMs,
      maxTimeoutMs: call.maxTimeoutMs,
      signal: call.signal,
      send: (id) => {
        if (turn) turn.id = id;
        this.#line.sendRequest(id, call.method, withToken(call, id));
      },
      giveUp: (requestId, reason) => {
        if (turn) turns.linger(requestId, turn);
        if (scope) scopes.linger(scope);
        this.#line.cancel(requestId, reason);
      },
      onSettled:
        (turn || scope) &&
        (() => {
          if (turn) turns.leave(turn);
          if (scope) scopes.leave(scope);
        }),
      onProgress: call.onProgress && ((update) => tell('onProgress', call.onProgress, toProgress(update))),
      onLog: call.onLog && ((entry) => tell('onLog', call.onLog, toLog(entry))),
    });
  }
}

/** A task asks while its result is waited for. */
function mayBeAskedAbout(method: string): boolean {
  return methodFacts(method)?.rounds ?? method === 'tasks/result';
}

/** The token of a request is its id, and never one that the caller made up: it could be the id of another's. */
function withToken(call: OutgoingCall, id: RequestId): JsonObject {
  const { _meta: own } = call.params;
  if (own === undefined && !mayExtend(call)) return call.params;
  const { progressToken, ...rest } = isJsonObject(own) ? own : {};
  return {
    ...call.params,
    _meta: mayExtend(call) ? { ...rest, progressToken: call.progressToken ?? id } : rest,
  };
}
