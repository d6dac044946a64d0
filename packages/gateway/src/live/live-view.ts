import { LazyAbort } from '@isthmus/sdk/internal/async/abort.js';
import { isThenable } from '@isthmus/sdk/internal/async/deferred.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, HandledResult, ServedSession, Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { Tap } from '@isthmus/sdk/internal/exchange/tap.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { deriveCall } from '../pipeline/derive.js';
import { deriveService } from '../pipeline/derive-service.js';
import {
  CANCELLED,
  type CallEnding,
  clientOf,
  endingOf,
  failureOf,
  targetOf,
} from '../telemetry/call-record.js';
import type { LiveWatcher } from './live-watcher.js';
import { type SessionNews, WatchedKeeper } from './watched-keeper.js';

/** Lets a watcher see the calls and sessions of a gateway. While none wants them, a call costs one comparison. */
export class LiveView {
  #watcher: LiveWatcher | undefined;
  #count = 0;
  readonly #sessions = new Map<number, WatchedKeeper>();
  readonly #news: SessionNews = this.#createNews();

  get watcher(): LiveWatcher | undefined {
    return this.#watcher;
  }

  /** From now on this one is told. It hears of the sessions that are open already. */
  watch(watcher: LiveWatcher | undefined): void {
    this.#watcher = watcher;
    if (watcher) for (const { facts } of this.#sessions.values()) watcher.sessionBegan(facts);
  }

  /** A stage around all others of a server. */
  around(inner: Service, server: string): Service {
    return deriveService(inner, {
      handle: (call) => {
        const { watcher } = this;
        if (!watcher?.wantsCalls || watcher.isOwn(call.number)) return inner.handle(call);
        return watchCall(inner, call, server, watcher);
      },
      session: inner.session && ((session) => this.#watchSession(inner, session, server)),
    });
  }

  /** The tap for the connections of a server. */
  tap(server: string): Tap {
    const view = this;
    return {
      get isOn() {
        return view.watcher?.isRecording(server) === true;
      },
      open: (connection) => view.watcher!.openLine(server, connection),
    };
  }

  #watchSession(inner: Service, session: ServedSession, server: string) {
    this.#count += 1;
    return new WatchedKeeper(this.#count, inner.session!(session), session, server, this.#news);
  }

  #createNews(): SessionNews {
    return {
      began: (session) => {
        this.#sessions.set(session.id, session);
        this.#watcher?.sessionBegan(session.facts);
      },
      subscribed: ({ id, subscribed }) => this.#watcher?.sessionSubscribed(id, subscribed),
      ended: ({ id }) => {
        this.#sessions.delete(id);
        this.#watcher?.sessionEnded(id);
      },
    };
  }
}

function watchCall(inner: Service, call: Call, server: string, watcher: LiveWatcher): HandledResult {
  const number = call.number ?? watcher.nextNumber();
  const { era, revision, principal } = call.peer;
  const abort = new LazyAbort();
  const began = performance.now();
  let isOver = false;
  const end = (ending: CallEnding) => {
    if (isOver) return;
    isOver = true;
    watcher.callEnded(number, { ...ending, ms: performance.now() - began });
  };
  let byOperator: (error: Error) => void = () => {};
  const cancelled = new Promise<never>((_, reject) => {
    byOperator = reject;
  });
  watcher.callBegan({
    ...{ number, server, method: call.method, ...targetOf(call) },
    ...{ era, revision, principal, client: clientOf(call.peer) },
    cancel() {
      const error = cancelledByOperator();
      byOperator(error);
      abort.abort(error);
    },
  });
  let questions = 0;
  const watched = deriveCall(call, {
    abort,
    number,
    progress(update) {
      watcher.callProgressed(number, update);
      call.progress(update);
    },
    async ask(request, signal) {
      questions += 1;
      watcher.callAsks(number, true);
      try {
        return await call.ask(request, signal);
      } finally {
        questions -= 1;
        if (questions === 0) watcher.callAsks(number, false);
      }
    },
  });
  const { cancellation } = call;
  const onAbort = () => abort.abort(cancellation.reason);
  if (cancellation.aborted) onAbort();
  else cancellation.addEventListener('abort', onAbort, { once: true });
  const finish = (ending: CallEnding) => {
    cancellation.removeEventListener('abort', onAbort);
    end(cancellation.aborted ? CANCELLED : ending);
  };
  let answer: HandledResult;
  try {
    answer = inner.handle(watched);
  } catch (error) {
    finish(failureOf(error));
    throw error;
  }
  if (!isThenable(answer)) {
    finish(endingOf(answer));
    return answer;
  }
  return Promise.race([answer, cancelled]).then(
    (result) => {
      finish(endingOf(result));
      return result;
    },
    (error: unknown) => {
      finish(failureOf(error));
      throw error;
    },
  );
}

function cancelledByOperator(): ProtocolError {
  return new ProtocolError(ErrorCode.InternalError, 'The operator of the gateway cancelled this call', {
    reason: 'CANCELLED_BY_OPERATOR',
  });
}
