import { events } from '@isthmus/sdk/internal/events.js';
import type { Call, ServedSession, Service, SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { ServiceAround } from '../service-around.js';
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
  /** The name that it has in logs, metrics and traces. */
  readonly server: string;
  /** Called once for each call that is over, however it ended. */
  readonly onCall: (record: CallRecord) => void;
  /** Called when a call begins; there will be one `onCall` for it. */
  readonly onBegin?: (begun: { readonly server: string; readonly side: TelemetrySide }) => void;
  /** Called when a legacy session has ended. */
  readonly onSession?: (record: SessionRecord) => void;
  /** Makes a span of each call. */
  readonly tracer?: CallTracer | undefined;
  /** `server` (the default): calls as clients make them. `client`: the same calls as a server behind takes them. */
  readonly side?: TelemetrySide;
  readonly transport?: NetworkTransport;
  /** The revision that is spoken there. Default: that of the client who calls. */
  readonly revision?: () => string | undefined;
  /** Milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

/** The same service; whoever wants to know hears of each of its calls. */
export function observeService(service: Service, options: ObserveOptions): Service {
  return new ObservedService(service, options);
}

class ObservedService extends ServiceAround {
  readonly #options: ObserveOptions;
  readonly #side: TelemetrySide;
  readonly #begun: { readonly server: string; readonly side: TelemetrySide };
  readonly #now: () => number;
  declare readonly session?: (session: ServedSession) => SessionKeeper;

  constructor(inner: Service, options: ObserveOptions) {
    super(inner);
    this.#options = options;
    this.#side = options.side ?? 'server';
    this.#begun = { server: options.server, side: this.#side };
    this.#now = options.now ?? (() => performance.now());
    if (inner.session) this.session = (session) => this.#keep(session, inner.session!(session));
  }

  override handle(call: Call): JsonObject | Promise<JsonObject> {
    const { onBegin, tracer } = this.#options;
    if (onBegin) quietly(onBegin, this.#begun);
    const began = this.#now();
    const span = tracer && this.#startSpan(tracer, call);
    try {
      const answer = span ? span.run((traced) => this.inner.handle(traced)) : this.inner.handle(call);
      if (typeof answer?.['then'] === 'function')
        return this.#follow(answer as Promise<JsonObject>, call, began, span);
      this.#end(call, began, span, endingOf(answer as JsonObject));
      return answer;
    } catch (error) {
      this.#end(call, began, span, failureOf(error));
      throw error;
    }
  }

  #startSpan(tracer: CallTracer, call: Call): CallSpan | undefined {
    const { server, transport } = this.#options;
    try {
      return tracer.start(call, { server, side: this.#side, transport, revision: this.#revisionOf(call) });
    } catch (error) {
      tellOf(error);
      return undefined;
    }
  }

  #follow(
    answer: Promise<JsonObject>,
    call: Call,
    began: number,
    span: CallSpan | undefined,
  ): Promise<JsonObject> {
    return answer.then(
      (result) => {
        this.#end(call, began, span, endingOf(result));
        return result;
      },
      (error: unknown) => {
        this.#end(call, began, span, failureOf(error));
        throw error;
      },
    );
  }

  #end(call: Call, began: number, span: CallSpan | undefined, ending: CallEnding): void {
    const { server, onCall, transport } = this.#options;
    const { peer, method } = call;
    const { tool, prompt, uri } = targetOf(call);
    const { outcome, errorType, code, message } = call.cancellation.aborted ? CANCELLED : ending;
    // One literal that names every member: it is made for each call.
    const record: CallRecord = {
      server,
      side: this.#side,
      request: call.id,
      method,
      tool,
      prompt,
      uri,
      era: peer.era,
      revision: this.#revisionOf(call),
      transport,
      principal: peer.principal,
      client: clientOf(peer),
      durationMs: this.#now() - began,
      outcome,
      errorType,
      code,
      message,
    };
    if (span) quietly(span.end, record);
    quietly(onCall, record);
  }

  #revisionOf({ peer }: Call): string | undefined {
    const { revision } = this.#options;
    return revision ? revision() : peer.revision;
  }

  #keep(session: ServedSession, keeper: SessionKeeper): SessionKeeper {
    const { onSession, server, transport } = this.#options;
    if (!onSession) return keeper;
    const began = this.#now();
    let over = false;
    return {
      begin: () => keeper.begin(),
      setLogLevel: (level) => keeper.setLogLevel(level),
      subscribe: (uri) => keeper.subscribe(uri),
      unsubscribe: (uri) => keeper.unsubscribe(uri),
      rootsChanged: () => keeper.rootsChanged(),
      end: () => {
        keeper.end();
        if (over) return;
        over = true;
        const { revision } = session.peer;
        quietly(onSession, { server, revision, transport, durationMs: this.#now() - began });
      },
    };
  }
}

/** Whoever watches must not be able to harm what is watched. */
function quietly<T>(watcher: (value: T) => void, value: T): void {
  try {
    watcher(value);
  } catch (error) {
    tellOf(error);
  }
}

function tellOf(error: unknown): void {
  if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method: 'telemetry', error });
}
