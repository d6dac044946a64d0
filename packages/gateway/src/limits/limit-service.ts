import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { isThenable } from '@isthmus/sdk/internal/async/deferred.js';
import { tell } from '@isthmus/sdk/internal/era/client-dialect-context.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Call, HandledResult, Peer, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { LateResult } from '@isthmus/sdk/internal/exchange/late-result.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { deriveCall } from '../pipeline/derive.js';
import { deriveService } from '../pipeline/derive-service.js';
import { CallLimiter, type LimiterLoad, type LimiterSlot } from './call-limiter.js';
import { type Excess, type LimitRefusal, rateExcess, toError, toRefusal } from './excess.js';
import { LimitedListens } from './listens.js';
import type { RateLimit } from './rate-limit.js';

/** A limit that is not set does not exist. */
export interface ServiceLimits {
  /** Calls that run at the same time. */
  readonly maxConcurrent?: number | undefined;
  /** The same, of one caller. */
  readonly maxConcurrentPerCaller?: number | undefined;
  /** Calls that may wait for a slot. Default 100; 0: none. */
  readonly maxQueue?: number | undefined;
  /** How long one may wait. Default 30 s. */
  readonly maxQueueMs?: number | undefined;
  /** Open `subscriptions/listen`. */
  readonly maxListens?: number | undefined;
  readonly maxListensPerCaller?: number | undefined;
}

export interface LimitOptions {
  /** The name of the server in errors. */
  readonly server: string;
  readonly limits?: ServiceLimits | undefined;
  /** How often a caller may call. Services that share one are counted together. */
  readonly rate?: RateLimit | undefined;
  readonly clock?: Clock | undefined;
  readonly onRefused?: ((refusal: LimitRefusal) => void) | undefined;
}

/** Keeps calls and subscriptions of a service within limits. Without a limit it returns the service itself. */
export function limitService(inner: Service, options: LimitOptions): Service {
  const { server, limits = {}, rate, onRefused } = options;
  checkLimits(limits);
  if (!rate && LIMITS.every((name) => limits[name] === undefined)) return inner;

  const refuse = (excess: Excess, method: string, peer: Peer): Error => {
    tell('onRefused', onRefused, toRefusal(excess, server, method, peer));
    return toError(excess, server);
  };
  const judge = (retryAfterMs: number, method: string, peer: Peer): void => {
    if (retryAfterMs > 0) throw refuse(rateExcess(server, rate!.perMinute, retryAfterMs), method, peer);
  };
  /** Undefined: the call may run now. */
  const checkRate = (method: string, peer: Peer): Promise<void> | undefined => {
    const retryAfterMs = rate ? rate.take(peer) : 0;
    if (typeof retryAfterMs === 'number') return judge(retryAfterMs, method, peer) as undefined;
    return retryAfterMs.then((ms) => judge(ms, method, peer));
  };
  const limiter = callLimiter(options, (excess, { method, peer }) => refuse(excess, method, peer));
  const { maxListens = NONE, maxListensPerCaller = NONE } = limits;
  const isListenLimited = maxListens < NONE || maxListensPerCaller < NONE || (rate && inner.listen);
  const listens = isListenLimited
    ? new LimitedListens(inner, server, { maxListens, maxListensPerCaller }, (excess, peer) =>
        refuse(excess, LISTEN, peer),
      )
    : undefined;

  const enter = (call: Call): HandledResult => {
    // Requests about tasks do not reach the server. A client must be able to answer and to cancel when all places are taken.
    if (!limiter || call.method.startsWith('tasks/')) return inner.handle(call);
    const slot = limiter.enter(call);
    return slot instanceof Promise ? runLater(inner, call, slot) : run(inner, call, slot);
  };

  const service = deriveService(inner, {
    handle(call) {
      const permitted = checkRate(call.method, call.peer);
      return permitted ? permitted.then(() => enter(call)) : enter(call);
    },
    // A session costs as much as a call. Without this, a caller could open sessions instead of calling.
    session:
      rate &&
      inner.session &&
      ((session) => {
        // A session begins at once. One too many is counted, so the next call or session of the caller is refused.
        checkRate('initialize', session.peer)?.catch(() => {});
        return inner.session!(session);
      }),
    listen:
      listens &&
      (async (peer, wanted, onChange) => {
        await checkRate(LISTEN, peer);
        return listens.listen(peer, wanted, onChange);
      }),
  });
  loads.set(service, () => {
    // Limits may be around limits. Each figure comes from the stage that counts it.
    const below = loadOf(inner) ?? IDLE;
    return { ...(limiter?.load ?? below), listens: listens?.open ?? below.listens };
  });
  return service;
}

/** The current load of a service that `limitService` returned; undefined for others. */
export function loadOf(service: Service): LimiterLoad | undefined {
  return loads.get(service)?.();
}

const loads = new WeakMap<Service, () => LimiterLoad>();

function callLimiter(
  { server, limits = {}, clock = systemClock }: LimitOptions,
  refuse: (excess: Excess, call: Call) => Error,
): CallLimiter | undefined {
  const { maxConcurrent = NONE, maxConcurrentPerCaller = NONE, maxQueue = 100, maxQueueMs = 30_000 } = limits;
  if (maxConcurrent === NONE && maxConcurrentPerCaller === NONE) return undefined;
  const bounds = { maxConcurrent, maxConcurrentPerCaller, maxQueue, maxQueueMs };
  return new CallLimiter({ server, limits: bounds, clock, refuse });
}

async function runLater(inner: Service, call: Call, waiting: Promise<LimiterSlot>): Promise<JsonObject> {
  const slot = await waiting;
  const { cancellation } = call;
  if (!cancellation.aborted) return run(inner, call, slot);
  slot.leave();
  throw cancellation.reason;
}

/**
 * Runs a call in its slot. While its client is asked a question, others may use the slot. A call that becomes a task keeps
 * the slot until the task has ended.
 */
function run(inner: Service, call: Call, slot: LimiterSlot): HandledResult {
  const ask: Call['ask'] = async (request, signal) => {
    slot.stepOut();
    try {
      return await call.ask(request, signal);
    } finally {
      slot.comeBack();
    }
  };
  let isTask = false;
  const outlive = () => {
    isTask = true;
    return slot;
  };
  let outcome: HandledResult;
  try {
    outcome = inner.handle(deriveCall(call, { ask, outlive }));
  } catch (error) {
    slot.leave();
    throw error;
  }
  const leave = () => {
    if (!isTask) slot.leave();
  };
  if (outcome instanceof LateResult) outcome.observe({ complete: leave, fail: leave });
  else if (isThenable(outcome)) {
    return outcome.then(
      (result) => {
        leave();
        return result;
      },
      (error) => {
        leave();
        throw error;
      },
    );
  } else leave();
  return outcome;
}

function checkLimits(limits: ServiceLimits): void {
  for (const name of [...LIMITS, ...QUEUE_LIMITS]) {
    const limit = limits[name];
    const least = name === 'maxQueue' ? 0 : 1;
    if (limit === undefined || (Number.isSafeInteger(limit) && limit >= least)) continue;
    throw new IsthmusError(
      'INVALID_OPTION',
      `${name} must be a whole number from ${least} on, got ${String(limit)}`,
    );
  }
}

const LIMITS = ['maxConcurrent', 'maxConcurrentPerCaller', 'maxListens', 'maxListensPerCaller'] as const;
/** They change other limits, and limit nothing by themselves. */
const QUEUE_LIMITS = ['maxQueue', 'maxQueueMs'] as const;
const IDLE: LimiterLoad = { running: 0, waiting: 0, asking: 0, listens: 0 };
const NONE = Number.POSITIVE_INFINITY;
const LISTEN = 'subscriptions/listen';
