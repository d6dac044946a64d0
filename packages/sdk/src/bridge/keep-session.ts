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
import { questionForClient } from './forwarded-call.js';
import { knowsElicitation, SessionChanges } from './session-changes.js';
import { toClientError } from './upstream-errors.js';
import type { UpstreamSession, UpstreamSessions } from './upstream-sessions.js';

export interface KeeperContext {
  readonly sessions: UpstreamSessions;
  readonly clock: Clock;
  capabilities(): ServerCapabilities;
  upstreamEra(): Era;
}

/** What a bridge does for a legacy session of a client, beyond its calls. The session has its own session with the upstream. */
export function keepSession(
  client: ServedSession,
  { sessions, clock, capabilities, upstreamEra }: KeeperContext,
): SessionKeeper {
  const session: UpstreamSession = sessions.take(client.peer, {
    answers: answersBy(client.peer.capabilities, (request, signal) =>
      client.ask(questionForClient(request, 'legacy'), signal),
    ),
    onLog: (entry) => client.log(entry),
    onElicited(id) {
      if (sessions.areOwn || knowsElicitation(client.peer, id)) client.elicited(id);
    },
  });
  const { caller } = session;
  const changes = new SessionChanges(caller, clock, capabilities, client.changed);
  let ended = false;
  const fail = (error: unknown, uri: string | undefined): never => {
    throw toClientError(error, { peer: client.peer, params: { uri } }, upstreamEra());
  };
  return {
    begin() {
      changes.begin();
      // Servers ask for roots as soon as a client connects.
      if (client.peer.capabilities.roots) caller.connected().catch(() => {});
    },
    async setLogLevel(level) {
      if (ended) throw new IsthmusError('CANCELLED', 'The session has ended');
      await caller.setLogLevel(level).catch((error) => fail(error, undefined));
    },
    subscribe: (uri) => changes.subscribe(uri).catch((error) => fail(error, uri)),
    unsubscribe: (uri) => changes.unsubscribe(uri).catch((error) => fail(error, uri)),
    rootsChanged() {
      // For a shared process `roots.listChanged` was not declared.
      if (sessions.areOwn) caller.rootsChanged();
    },
    end() {
      if (ended) return;
      ended = true;
      changes.end();
      sessions.leave(client.peer);
    },
  };
}

/** Handlers for questions that belong to no call: they ask the client, if it declared the capability. */
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

/** A subscription at the upstream, for one of a client. It goes on when the connection to the upstream is replaced. */
export async function listenUpstream(
  caller: ReconnectingCaller,
  wanted: SubscriptionFilter,
  onChange: (change: Change) => void,
  as: CallerIdentity,
): Promise<OpenListen> {
  const filter: Wanted = {
    tools: wanted.toolsListChanged ?? false,
    prompts: wanted.promptsListChanged ?? false,
    resources: wanted.resourcesListChanged ?? false,
    uris: wanted.resourceSubscriptions ?? [],
  };
  const changes = await caller.listen(filter, as);
  const ended = new Promise<ListenEnd>((resolve) => changes.follow(onChange, resolve));
  return { honoured: changes.honoured, ended, stop: () => changes.close() };
}
