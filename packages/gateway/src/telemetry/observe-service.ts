import { events } from '@isthmus/sdk/internal/events.js';
import type { Call, Service, SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
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
  /** Milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

export interface BegunCall {
  readonly server: string;
  readonly side: TelemetrySide;
}

/** Reports every call and every legacy session of a service. An observer that throws does not disturb the call. */
export function observeService(inner: Service, options: ObserveOptions): Service {
  const { server, onCall, onBegin, onSession, tracer, side = 'server', transport, revision } = options;
  const now = options.now ?? (() => performance.now());
  const begun: BegunCall = { server, side };
  const revisionOf = ({ peer }: Call) => (revision ? revision() : peer.revision);

  function startSpan(call: Call): CallSpan | undefined {
    try {
      return tracer?.start(call, { server, side, transport, revision: revisionOf(call) });
    } catch (error) {
      publish(error);
      return undefined;
    }
  }

  function end(call: Call, began: number, span: CallSpan | undefined, ending: CallEnding): void {
    const { peer, method } = call;
    const { tool, prompt, uri } = targetOf(call);
    const { outcome, errorType, code, message } = call.cancellation.aborted ? CANCELLED : ending;
    // One literal that names every member, because it is made for each call.
    const record: CallRecord = {
      server,
      side,
      request: call.id,
      method,
      tool,
      prompt,
      uri,
      era: peer.era,
      revision: revisionOf(call),
      transport,
      principal: peer.principal,
      client: clientOf(peer),
      durationMs: now() - began,
      outcome,
      errorType,
      code,
      message,
    };
    if (span) quietly(span.end, record);
    quietly(onCall, record);
  }

  function follow(answer: Promise<JsonObject>, call: Call, began: number, span: CallSpan | undefined) {
    return answer.then(
      (result) => {
        end(call, began, span, endingOf(result));
        return result;
      },
      (error: unknown) => {
        end(call, began, span, failureOf(error));
        throw error;
      },
    );
  }

  return deriveService(inner, {
    handle(call) {
      if (onBegin) quietly(onBegin, begun);
      const began = now();
      const span = tracer && startSpan(call);
      try {
        const answer = span ? span.run((traced) => inner.handle(traced)) : inner.handle(call);
        if (typeof answer?.['then'] === 'function') {
          return follow(answer as Promise<JsonObject>, call, began, span);
        }
        end(call, began, span, endingOf(answer as JsonObject));
        return answer;
      } catch (error) {
        end(call, began, span, failureOf(error));
        throw error;
      }
    },
    session:
      inner.session &&
      onSession &&
      ((session) => {
        const began = now();
        return new ObservedKeeper(inner.session!(session), () => {
          const { revision: spoken } = session.peer;
          quietly(onSession, { server, revision: spoken, transport, durationMs: now() - began });
        });
      }),
  });
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
