import { IsthmusError } from '../../errors.js';
import type { OutgoingCall } from '../../exchange/call.js';
import type { OutboundRequest } from '../../exchange/pending-request.js';
import { tellNumber } from '../../exchange/tap.js';
import { isJsonObject, type JsonObject, type RequestId, requestMessage } from '../../wire/json-rpc.js';
import type { LoggingLevel } from '../../wire/model.js';
import type { TenantCaller } from '../client/tenant-caller.js';
import { mayExtend, tell } from '../client-dialect-context.js';
import { takesTasks } from '../extensions.js';
import { roundProblem } from '../input-rounds.js';
import { META } from '../meta-keys.js';
import { methodFacts } from '../methods.js';
import { toLog, toProgress } from '../reports.js';
import type { ModernClientDialect } from './client-dialect.js';

/** A request of a call to a modern server. A call that the server asks about takes several. */
export class ModernRequest implements OutboundRequest {
  readonly what: string;
  readonly owner: TenantCaller;
  readonly call: OutgoingCall;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly wantsLogs: boolean;
  readonly #dialect: ModernClientDialect;
  readonly #params: JsonObject;
  /** The call goes on after this request: it takes rounds. */
  #goesOn: boolean;

  /** `isRound`: the request continues a call. */
  constructor(
    dialect: ModernClientDialect,
    owner: TenantCaller,
    call: OutgoingCall,
    params: JsonObject,
    isRound: boolean,
  ) {
    this.what = call.method;
    this.owner = owner;
    this.call = call;
    this.timeoutMs = call.timeoutMs;
    this.maxTimeoutMs = call.maxTimeoutMs;
    this.wantsLogs = levelOf(call, owner) !== undefined;
    this.#dialect = dialect;
    this.#params = params;
    this.#goesOn = isRound;
  }

  send(id: RequestId): void {
    const { connection } = this.#dialect.connection;
    if (connection.tap !== undefined) tellNumber(connection.tap, id, this.call);
    connection.send(requestMessage(id, this.what, this.#withMeta(id)));
  }

  giveUp(id: RequestId, reason: string): void {
    // For calls on behalf of clients: one client must not withhold the logs of all the others.
    if (this.wantsLogs && !this.call.behalf) this.#dialect.gaveUp(id, this.owner);
    this.#dialect.cancel(id, reason);
  }

  accept(result: JsonObject): JsonObject | Promise<JsonObject> {
    const type = result['resultType'];
    if (type === undefined || type === 'complete') return result;
    if (type === 'task' && this.#mayBeTask()) return result;
    checkRound(this.what, type, result);
    if (this.call.manual || this.#goesOn) return result;
    this.#goesOn = true;
    return this.#dialect.answerRounds(this.owner, this.call, result);
  }

  /** TASK-M-005: only a tool that was called with the extension is answered with a task. */
  #mayBeTask(): boolean {
    const { behalf, method, takesTasks: isDeclared } = this.call;
    const { capabilities } = behalf ?? this.owner.tenant;
    return method === 'tools/call' && (isDeclared === true || takesTasks(capabilities ?? {}));
  }

  settled(hasResult: boolean): void {
    if (!this.#goesOn) this.owner.limiter?.end(this.call, hasResult);
  }

  progress(params: JsonObject): void {
    if (this.call.onProgress) tell('onProgress', this.call.onProgress, toProgress(params));
  }

  log(params: JsonObject): void {
    this.owner.log(toLog(params), this.call.onLog);
  }

  #withMeta(id: RequestId): JsonObject {
    const { call, owner } = this;
    const params = this.#params;
    const level = levelOf(call, owner);
    const wantsProgress = mayExtend(call);
    const { _meta: own } = params;
    const said = this.#dialect.envelopeOf(owner, call.behalf, call.takesTasks);
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
}

/** A call with `onLog` wants logs; its own level, or that of the tenant, says which. */
function levelOf(call: OutgoingCall, { logLevel }: TenantCaller): LoggingLevel | undefined {
  return call.logLevel ?? logLevel ?? (call.onLog ? 'info' : undefined);
}

/** RTYPE-003, RTYPE-004, MRTR-003. */
function checkRound(method: string, type: unknown, result: JsonObject): void {
  const isRound = type === 'input_required' && methodFacts(method)?.rounds;
  const problem = isRound ? roundProblem(result) : undefined;
  if (isRound && problem === undefined) return;
  const what = isRound ? `a round that ${problem}` : `resultType ${JSON.stringify(type)}`;
  throw new IsthmusError('INVALID_RESULT', `${method} was answered with ${what}`, { sent: 'maybe' });
}
