import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { isThenable } from '@isthmus/sdk/internal/async/deferred.js';
import { tell } from '@isthmus/sdk/internal/era/client-dialect-context.js';
import type { Call, Peer, Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { InputRequest, InputResponse } from '@isthmus/sdk/internal/wire/model.js';
import { CallAround } from '../call-around.js';
import { ServiceAround } from '../service-around.js';
import { CallLimiter, type LimiterLoad } from './call-limiter.js';
import { type Excess, rateExcess } from './excess.js';
import type { LimiterSlot } from './limiter-slot.js';
import { LimitedListens } from './listens.js';
import type { RateLimit } from './rate-limit.js';
import { type LimitRefusal, toError, toRefusal } from './refusal.js';

/** Whatever is not set has no limit. */
export interface ServiceLimits {
  /** Calls that run at the same time. */
  readonly maxConcurrent?: number | undefined;
  /** The same, of one caller. */
  readonly maxConcurrentPerCaller?: number | undefined;
  /** Calls that may wait for a place. Default 100; 0: none. */
  readonly maxQueue?: number | undefined;
  /** How long one may wait. Default 30 s. */
  readonly maxQueueMs?: number | undefined;
  /** Open `subscriptions/listen`. */
  readonly maxListens?: number | undefined;
  readonly maxListensPerCaller?: number | undefined;
}

export interface LimitOptions {
  /** What errors call it. */
  readonly server: string;
  readonly limits?: ServiceLimits | undefined;
  /** How often a caller may call; share one between services that are to be counted together. */
  readonly rate?: RateLimit | undefined;
  readonly clock?: Clock | undefined;
  readonly onRefused?: ((refusal: LimitRefusal) => void) | undefined;
}

export class LimitedService extends ServiceAround {
  readonly #options: LimitOptions;
  /** Where calls are counted. */
  readonly #gate: CallLimiter | undefined;
  readonly #listens: LimitedListens | undefined;
  declare readonly listen?: NonNullable<Service['listen']>;
  declare readonly session?: NonNullable<Service['session']>;

  constructor(service: Service, options: LimitOptions) {
    const { server, limits = {}, rate, clock = systemClock } = options;
    super(service);
    this.#options = options;
    const {
      maxConcurrent = NONE,
      maxConcurrentPerCaller = NONE,
      maxQueue = 100,
      maxQueueMs = 30_000,
    } = limits;
    if (maxConcurrent < NONE || maxConcurrentPerCaller < NONE) {
      const refuse = (excess: Excess, { method, peer }: Call) => this.#refuse(excess, method, peer);
      const bounds = { maxConcurrent, maxConcurrentPerCaller, maxQueue, maxQueueMs };
      this.#gate = new CallLimiter({ server, limits: bounds, clock, refuse });
    }
    if (rate && service.session) {
      // A session costs what a call costs, and could be opened instead of calling.
      this.session = (session) => {
        this.#checkRate('initialize', session.peer);
        return service.session!(session);
      };
    }
    const { maxListens = NONE, maxListensPerCaller = NONE } = limits;
    if (maxListens < NONE || maxListensPerCaller < NONE || (rate && service.listen)) {
      const refuse = (excess: Excess, peer: Peer) => this.#refuse(excess, LISTEN, peer);
      const listens = new LimitedListens(service, server, { maxListens, maxListensPerCaller }, refuse);
      this.#listens = listens;
      this.listen = async (peer, wanted, onChange) => {
        this.#checkRate(LISTEN, peer);
        return listens.listen(peer, wanted, onChange);
      };
    }
  }

  get load(): LimiterLoad {
    // Limits may be around limits: those that count are asked.
    const below = this.inner instanceof LimitedService ? this.inner.load : IDLE;
    const calls = this.#gate?.load ?? below;
    return { ...calls, listens: this.#listens?.open ?? below.listens };
  }

  override handle(call: Call): JsonObject | Promise<JsonObject> {
    this.#checkRate(call.method, call.peer);
    if (!this.#gate) return this.inner.handle(call);
    const place = this.#gate.enter(call);
    return place instanceof Promise ? this.#runLater(call, place) : this.#run(call, place);
  }

  async #runLater(call: Call, waiting: Promise<LimiterSlot>): Promise<JsonObject> {
    const place = await waiting;
    const { cancellation } = call;
    if (!cancellation.aborted) return this.#run(call, place);
    place.leave();
    throw cancellation.reason;
  }

  #run(call: Call, place: LimiterSlot): JsonObject | Promise<JsonObject> {
    let outcome: JsonObject | Promise<JsonObject>;
    try {
      outcome = this.inner.handle(new LimitedCall(call, place));
    } catch (error) {
      place.leave();
      throw error;
    }
    if (!isThenable(outcome)) {
      place.leave();
      return outcome;
    }
    return outcome.then(
      (result) => {
        place.leave();
        return result;
      },
      (error) => {
        place.leave();
        throw error;
      },
    );
  }

  #checkRate(method: string, peer: Peer): void {
    const { rate, server } = this.#options;
    const retryAfterMs = rate ? rate.take(peer) : 0;
    if (!rate || retryAfterMs === 0) return;
    throw this.#refuse(rateExcess(server, rate.perMinute, retryAfterMs), method, peer);
  }

  #refuse(excess: Excess, method: string, peer: Peer): Error {
    const { server, onRefused } = this.#options;
    tell('onRefused', onRefused, toRefusal(excess, server, method, peer));
    return toError(excess, server);
  }
}

const IDLE: LimiterLoad = { running: 0, waiting: 0, asking: 0, listens: 0 };
const NONE = Number.POSITIVE_INFINITY;
const LISTEN = 'subscriptions/listen';

/** The same call; while its client is being asked something, it takes up no place. */
class LimitedCall extends CallAround {
  readonly #place: LimiterSlot;

  constructor(call: Call, place: LimiterSlot) {
    super(call);
    this.#place = place;
  }

  override async ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    this.#place.stepOut();
    try {
      return await this.whole.ask(request, signal);
    } finally {
      this.#place.comeBack();
    }
  }
}
