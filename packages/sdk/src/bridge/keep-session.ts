import type { Clock } from '../async/clock.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import type { Wanted } from '../client/subscriptions.js';
import type { Answers } from '../era/answers.js';
import { IsthmusError } from '../errors.js';
import type {
  CallerIdentity,
  Change,
  Era,
  ListenEnd,
  OpenListen,
  ServedSession,
  SessionKeeper,
} from '../exchange/call.js';
import type {
  ClientCapabilities,
  InputRequest,
  InputResponse,
  ServerCapabilities,
  SubscriptionFilter,
} from '../wire/model.js';
import { nearQuestion } from './forwarded-call.js';
import { knowsElicitation, nextTurn, SessionNews } from './session-news.js';
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
      // A client that shares a process was not declared as one that sends this.
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

/** Answers to what belongs to no call, by asking a client what it has declared to answer. */
export function answersBy(
  { elicitation, sampling, roots }: ClientCapabilities,
  ask: (request: InputRequest, signal: AbortSignal) => Promise<InputResponse>,
): Answers {
  return {
    ...(elicitation && {
      elicit: (params, { signal }) => ask({ method: 'elicitation/create', params }, signal) as Promise<never>,
      urls: elicitation.url !== undefined,
    }),
    ...(sampling && {
      sample: (params, { signal }) =>
        ask({ method: 'sampling/createMessage', params }, signal) as Promise<never>,
      tools: sampling.tools !== undefined,
    }),
    ...(roots && {
      roots: async () => {
        const never = new AbortController().signal;
        return ((await ask({ method: 'roots/list' }, never)) as { roots: [] }).roots;
      },
    }),
  };
}

/** A subscription on the far side, for one on the near side. It goes on when the connection between is replaced. */
export async function listenThere(
  session: ReconnectingCaller,
  wanted: SubscriptionFilter,
  onChange: (change: Change) => void,
  as: CallerIdentity,
): Promise<OpenListen> {
  const there: Wanted = {
    tools: wanted.toolsListChanged ?? false,
    prompts: wanted.promptsListChanged ?? false,
    resources: wanted.resourcesListChanged ?? false,
    uris: wanted.resourceSubscriptions ?? [],
  };
  const changes = await session.listen(there, as);
  const follow = async (): Promise<ListenEnd> => {
    try {
      for await (const change of changes) {
        await nextTurn();
        onChange(change);
      }
      return { error: undefined };
    } catch (error) {
      return { error };
    }
  };
  return { honoured: changes.honoured, ended: follow(), stop: () => changes.close() };
}
