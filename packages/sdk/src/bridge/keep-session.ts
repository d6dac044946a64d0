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
  LoggingLevel,
  ServerCapabilities,
  SubscriptionFilter,
} from '../wire/model.js';
import { questionForClient } from './forwarded-call.js';
import { knowsElicitation, SessionChanges } from './session-changes.js';
import { toClientError } from './upstream-errors.js';
import type { UpstreamSessions } from './upstream-sessions.js';

export interface KeeperContext {
  readonly sessions: UpstreamSessions;
  readonly clock: Clock;
  capabilities(): ServerCapabilities;
  upstreamEra(): Era;
}

/**
 * What a bridge does for a legacy session of a client, beyond its calls. The session has its own session with the upstream.
 * A class, since there may be thousands of sessions: a literal with six functions takes five times the memory.
 */
export class BridgedSession implements SessionKeeper {
  readonly #client: ServedSession;
  readonly #context: KeeperContext;
  readonly #caller: ReconnectingCaller;
  readonly #changes: SessionChanges;
  #hasEnded = false;

  constructor(client: ServedSession, context: KeeperContext) {
    const { sessions, clock, capabilities } = context;
    this.#client = client;
    this.#context = context;
    const { caller } = sessions.take(client.peer, {
      answers: answersBy(client.peer.capabilities, (request, signal) =>
        client.ask(questionForClient(request, 'legacy'), signal),
      ),
      onLog: client.log,
      onNotification: client.notify,
      onElicited(id) {
        if (sessions.areOwn || knowsElicitation(client.peer, id)) client.elicited(id);
      },
    });
    this.#caller = caller;
    this.#changes = new SessionChanges(caller, clock, capabilities, client.changed);
  }

  begin(): void {
    this.#changes.begin();
    // Servers ask for roots as soon as a client connects.
    if (this.#client.peer.capabilities.roots) this.#caller.connected().catch(() => {});
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    if (this.#hasEnded) throw new IsthmusError('CANCELLED', 'The session has ended');
    await this.#caller.setLogLevel(level).catch((error) => this.#fail(error, undefined));
  }

  subscribe(uri: string): Promise<void> {
    return this.#changes.subscribe(uri).catch((error) => this.#fail(error, uri));
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#changes.unsubscribe(uri).catch((error) => this.#fail(error, uri));
  }

  rootsChanged(): void {
    // For a shared process `roots.listChanged` was not declared.
    if (this.#context.sessions.areOwn) this.#caller.rootsChanged();
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#changes.end();
    this.#context.sessions.leave(this.#client.peer);
  }

  #fail(error: unknown, uri: string | undefined): never {
    throw toClientError(error, { peer: this.#client.peer, params: { uri } }, this.#context.upstreamEra());
  }
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
    other: (request, { signal }) =>
      ask(request as unknown as InputRequest, signal) as Promise<Record<string, unknown>>,
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
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions, ...others } =
    wanted;
  const filter: Wanted = {
    tools: toolsListChanged ?? false,
    prompts: promptsListChanged ?? false,
    resources: resourcesListChanged ?? false,
    uris: resourceSubscriptions ?? [],
    others,
  };
  const changes = await caller.listen(filter, as);
  const ended = new Promise<ListenEnd>((resolve) => changes.follow({ changed: onChange, ended: resolve }));
  return { honoured: changes.honoured, ended, stop: () => changes.close() };
}
