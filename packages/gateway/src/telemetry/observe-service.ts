import { isThenable } from '@isthmus/sdk/internal/async/deferred.js';
import { events } from '@isthmus/sdk/internal/events.js';
import type { Call, HandledResult, Service, SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import { LateResult, type ResultListener } from '@isthmus/sdk/internal/exchange/late-result.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { LoggingLevel } from '@isthmus/sdk/internal/wire/model.js';
import { deriveService } from '../pipeline/derive-service.js';
import {
  CANCELLED,
  type CallEnding,
  type CallRecord,
  clientOf,
  endingOf,
  failureOf,
  type NetworkTransport,
  type SessionRecord,
  type TelemetrySide,
  targetOf,
} from './call-record.js';
import type { CallSpan, CallTracer } from './call-tracer.js';

export interface ObserveOptions {
  /** The name that the server has in logs, metrics and traces. */
  readonly server: string;
  /** Called once for each call that is over, however it ended. */
  readonly onCall: (record: CallRecord) => void;
  /** Called when a call begins. One `onCall` follows for it. */
  readonly onBegin?: ((begun: BegunCall) => void) | undefined;
  /** Called when a legacy session has ended. */
  readonly onSession?: ((record: SessionRecord) => void) | undefined;
  /** Makes a span of each call. */
  readonly tracer?: CallTracer | undefined;
  /** `server` (the default): calls as clients make them. `client`: the same calls as the upstream receives them. */
  readonly side?: TelemetrySide;
  readonly transport?: NetworkTransport;
  /** The revision that is spoken on this side. Default: that of the calling client. */
  readonly revision?: () => string | undefined;
  /** In a cluster: the member that has handed the request of a call on. */
  readonly handedOnBy?: ((call: Call) => string | undefined) | undefined;
  /** Milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

export interface BegunCall {
  readonly server: string;
  readonly side: TelemetrySide;
}

/** Reports every call and every legacy session of a service. An observer that throws does not disturb the call. */
export function observeService(inner: Service, options: ObserveOptions): Service {
  const { tracer } = options;
  const now = options.now ?? readTime;
  const begin = beginner(options);

  return deriveService(inner, {
    handle(call) {
      begin();
      const span = tracer?.isOn ? startSpan(tracer, call, options) : undefined;
      const observed = new ObservedCall(call, options, undefined, now, span);
      try {
        return observed.follow(span ? span.run((traced) => inner.handle(traced)) : inner.handle(call));
      } catch (error) {
        observed.fail(error);
        throw error;
      }
    },
    session: observedSession(inner, options, now),
  });
}

/**
 * The same as a service that is observed as `upstream`, and around that as `client`: for calls that nothing can hold or
 * refuse in between. One time and one object for each call are enough then.
 */
export function observeTwice(inner: Service, client: ObserveOptions, upstream: ObserveOptions): Service {
  const { tracer } = client;
  const now = client.now ?? readTime;
  const beginClient = beginner(client);
  const beginUpstream = beginner(upstream);
  // Each side has a span of its own.
  const traced = tracer && observeService(observeService(inner, upstream), client);

  return deriveService(inner, {
    handle(call) {
      if (tracer?.isOn) return traced!.handle(call);
      beginClient();
      beginUpstream();
      const observed = new ObservedCall(call, client, upstream, now, undefined);
      try {
        return observed.follow(inner.handle(call));
      } catch (error) {
        observed.fail(error);
        throw error;
      }
    },
    session: observedSession(inner, client, now),
  });
}

function readTime(): number {
  return performance.now();
}

function beginner({ server, side = 'server', onBegin }: ObserveOptions): () => void {
  const begun: BegunCall = { server, side };
  return onBegin ? () => quietly(onBegin, begun) : () => {};
}

function observedSession(
  inner: Service,
  { server, onSession, transport }: ObserveOptions,
  now: () => number,
): Service['session'] {
  return (
    inner.session &&
    onSession &&
    ((session) => {
      const began = now();
      return new ObservedKeeper(inner.session!(session), () => {
        const { revision: spoken } = session.peer;
        quietly(onSession, { server, revision: spoken, transport, durationMs: now() - began });
      });
    })
  );
}

function startSpan(tracer: CallTracer, call: Call, options: ObserveOptions): CallSpan | undefined {
  try {
    const { server, side = 'server', transport } = options;
    return tracer.start(call, { server, side, transport, revision: revisionOf(call, options) });
  } catch (error) {
    publish(error);
    return undefined;
  }
}

function revisionOf({ peer }: Call, { revision }: ObserveOptions): string | undefined {
  return revision ? revision() : peer.revision;
}

/** Reports one call when it is over: to one observer, or to that of the upstream and then to that of the client. */
class ObservedCall implements ResultListener {
  readonly #call: Call;
  readonly #options: ObserveOptions;
  readonly #upstream: ObserveOptions | undefined;
  readonly #now: () => number;
  readonly #span: CallSpan | undefined;
  readonly #began: number;

  constructor(
    call: Call,
    options: ObserveOptions,
    upstream: ObserveOptions | undefined,
    now: () => number,
    span: CallSpan | undefined,
  ) {
    this.#call = call;
    this.#options = options;
    this.#upstream = upstream;
    this.#now = now;
    this.#span = span;
    this.#began = now();
  }

  /** Reports the end of the call. */
  follow(answer: HandledResult): HandledResult {
    if (answer instanceof LateResult) answer.observe(this);
    else if (isThenable(answer)) return this.#followLater(answer);
    else this.complete(answer);
    return answer;
  }

  async #followLater(answer: PromiseLike<JsonObject>): Promise<JsonObject> {
    try {
      const result = await answer;
      this.complete(result);
      return result;
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  complete(result: JsonObject): void {
    this.#end(endingOf(result));
  }

  fail(error: unknown): void {
    this.#end(failureOf(error));
  }

  #end(ending: CallEnding): void {
    const durationMs = this.#now() - this.#began;
    const own = this.#call.cancellation.aborted ? CANCELLED : ending;
    if (this.#upstream) quietly(this.#upstream.onCall, recordOf(this.#call, this.#upstream, own, durationMs));
    const record = recordOf(this.#call, this.#options, own, durationMs);
    if (this.#span) quietly(this.#span.end, record);
    quietly(this.#options.onCall, record);
  }
}

function recordOf(call: Call, options: ObserveOptions, ending: CallEnding, durationMs: number): CallRecord {
  const { peer, method } = call;
  const { server, side = 'server', transport } = options;
  const { tool, prompt, uri } = targetOf(call);
  const { outcome, errorType, code, message } = ending;
  // One literal that names every member, because it is made for each call.
  return {
    server,
    side,
    request: call.id,
    method,
    tool,
    prompt,
    uri,
    era: peer.era,
    revision: revisionOf(call, options),
    transport,
    principal: peer.principal,
    client: clientOf(peer),
    handedOnBy: options.handedOnBy?.(call),
    durationMs,
    outcome,
    errorType,
    code,
    message,
  };
}

/** Calls `ended` once, after the session has ended. A class, since there may be thousands of sessions. */
class ObservedKeeper implements SessionKeeper {
  readonly #keeper: SessionKeeper;
  #ended: (() => void) | undefined;

  constructor(keeper: SessionKeeper, ended: () => void) {
    this.#keeper = keeper;
    this.#ended = ended;
  }

  begin(): void {
    this.#keeper.begin();
  }

  setLogLevel(level: LoggingLevel): Promise<void> {
    return this.#keeper.setLogLevel(level);
  }

  subscribe(uri: string): Promise<void> {
    return this.#keeper.subscribe(uri);
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#keeper.unsubscribe(uri);
  }

  rootsChanged(): void {
    this.#keeper.rootsChanged();
  }

  end(): void {
    this.#keeper.end();
    const ended = this.#ended;
    this.#ended = undefined;
    ended?.();
  }
}

function quietly<T>(observer: (value: T) => void, value: T): void {
  try {
    observer(value);
  } catch (error) {
    publish(error);
  }
}

function publish(error: unknown): void {
  if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method: 'telemetry', error });
}
