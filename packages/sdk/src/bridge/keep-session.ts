import type { Clock } from '../async/clock.js';
import { IsthmusError } from '../errors.js';
import type { Era, ServedSession, SessionKeeper } from '../exchange/call.js';
import type { ServerCapabilities } from '../wire/model.js';
import { knowsElicitation } from './elicitation-ids.js';
import { nearQuestion } from './forwarded-call.js';
import { answersBy } from './session-answers.js';
import { SessionNews } from './session-news.js';
import { toClientError } from './upstream-errors.js';
import type { UpstreamSession, UpstreamSessions } from './upstream-sessions.js';

export interface KeeperContext {
  readonly seats: UpstreamSessions;
  readonly clock: Clock;
  capabilities(): ServerCapabilities;
  far(): Era;
}

/** What a bridge does for a legacy session of the near side, beyond its calls: a seat on the far side of its own. */
export function keepSession(
  near: ServedSession,
  { seats, clock, capabilities, far }: KeeperContext,
): SessionKeeper {
  const seat: UpstreamSession = seats.take(near.peer, {
    answers: answersBy(near.peer.capabilities, (request, signal) =>
      near.ask(nearQuestion(request, 'legacy'), signal),
    ),
    onLog: (entry) => near.log(entry),
    onElicited(id) {
      if (seats.areOwn || knowsElicitation(near.peer, id)) near.elicited(id);
    },
  });
  const { session } = seat;
  const news = new SessionNews(session, clock, capabilities, near.changed);
  let ended = false;
  const fail = (error: unknown, uri: string | undefined): never => {
    throw toClientError(error, { peer: near.peer, params: { uri } }, far());
  };
  return {
    begin() {
      news.begin();
      // Servers ask for roots as soon as they are connected to.
      if (near.peer.capabilities.roots) session.connected().catch(() => {});
    },
    async setLogLevel(level) {
      if (ended) throw new IsthmusError('CANCELLED', 'The session is over');
      await session.setLogLevel(level).catch((error) => fail(error, undefined));
    },
    subscribe: (uri) => news.subscribe(uri).catch((error) => fail(error, uri)),
    unsubscribe: (uri) => news.unsubscribe(uri).catch((error) => fail(error, uri)),
    rootsChanged() {
      // Whoever shares a process with others was not declared to tell of it.
      if (seats.areOwn) session.rootsChanged();
    },
    end() {
      if (ended) return;
      ended = true;
      news.end();
      seats.leave(near.peer);
    },
  };
}
