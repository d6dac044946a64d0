import type { Clock } from '../async/clock.js';
import type { Upstream, UpstreamSessionOptions, UpstreamTenant } from '../client/connect.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import { unionOf } from '../era/answers.js';
import { SHARED_EXTENSIONS, TASKS_EXTENSION, withoutExtension } from '../era/extensions.js';
import { IsthmusError } from '../errors.js';
import type { Call, Era, Peer } from '../exchange/call.js';
import { clientKey } from '../exchange/client-key.js';
import { FairShare } from '../exchange/fair-share.js';
import type { ClientCapabilities } from '../wire/model.js';
import { conversationOf } from './forwarded-call.js';
import type { OfferedSession } from './pending-first-session.js';

/** A session with the upstream, for one client or for all clients of a principal. */
export interface UpstreamSession {
  readonly caller: ReconnectingCaller;
  /** The client, if the session is for one client: it gets all questions of the session. */
  readonly owner: object | undefined;
  /** Calls in flight. */
  uses: number;
  /** Those of them that are tasks, or can become one. */
  tasks: Set<Call> | undefined;
  /** Called with the end of the last task, if the client has left. */
  onTasksOver: (() => void) | undefined;
}

/** A call begins to use the session. */
export function enterSession(session: UpstreamSession, call: Call): void {
  session.uses += 1;
  if (!call.task) return;
  session.tasks ??= new Set();
  session.tasks.add(call);
}

/** A call has ended. */
export function exitSession(session: UpstreamSession, call: Call): void {
  session.uses -= 1;
  if (session.tasks?.delete(call) && session.tasks.size === 0) session.onTasksOver?.();
}

export interface UpstreamSessionsOptions {
  readonly upstream: Upstream;
  readonly clock: Clock;
  /** The server keeps nothing for its clients: principals may share it. */
  readonly stateless: boolean;
  /** The limit of all sessions. Undefined: legacy sessions are unlimited here, and those that modern clients name are bounded. */
  readonly maxUpstreamSessions: number | undefined;
  readonly idleMs: number;
  readonly onReopened: (caller: ReconnectingCaller) => void;
}

/**
 * Which session with the upstream serves which client. A legacy session of a client has its own. Modern requests are
 * told apart by their principal and by the conversation that they name, never by a guess.
 */
export class UpstreamSessions {
  readonly #options: UpstreamSessionsOptions;
  /** The key is the peer of a legacy session. */
  readonly #own = new Map<Peer, UpstreamSession>();
  /** Sessions of clients that have left, whose tasks go on. */
  readonly #left = new Set<UpstreamSession>();
  readonly #shared = new Map<string, SharedSession>();
  readonly #shares = new FairShare<SharedSession>();
  /** The first principal, where all clients share one process. */
  #only: { readonly principal: string | undefined } | undefined;
  #sweeping: (() => void) | undefined;
  #offered: OfferedSession | undefined;
  #closed = false;

  constructor(options: UpstreamSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#own.size + this.#shared.size + this.#left.size;
  }

  /** Whether each session has its own process or connection. */
  get areOwn(): boolean {
    return this.#options.upstream.serves === 'one';
  }

  /** The session for a call. */
  of(call: Call, upstreamEra: Era): UpstreamSession {
    return this.#own.get(call.peer) ?? this.#sharedSession(call.peer, conversationOf(call), upstreamEra);
  }

  /** The session for a subscription of a client. */
  ofPeer(peer: Peer, upstreamEra: Era): UpstreamSession {
    return this.#own.get(peer) ?? this.#sharedSession(peer, undefined, upstreamEra);
  }

  /** Keeps the session that was opened for the first client, until that client takes it. */
  offer(offered: OfferedSession): void {
    this.#offered = offered;
    this.#options.clock.after(OFFER_MS, () => this.#withdraw(offered), { background: true });
  }

  /** Opens a session for a legacy session of a client. */
  take(peer: Peer, given: UpstreamTenant): UpstreamSession {
    this.#admit(peer.principal);
    const { maxUpstreamSessions } = this.#options;
    // The listener already limits legacy sessions fairly, and a session here costs little until it is used.
    this.#checkRoom(maxUpstreamSessions, this.size, peer);
    const own = this.areOwn;
    const session: UpstreamSession = {
      caller: this.#open(
        peer,
        own ? declaredCapabilities(peer) : sharedCapabilities(peer),
        given,
        own ? peer.info : undefined,
      ),
      owner: peer,
      uses: 0,
      tasks: undefined,
      onTasksOver: undefined,
    };
    this.#own.set(peer, session);
    return session;
  }

  /** The client has left. Its tasks go on: they belong to its principal, who finds them in another session. */
  leave(peer: Peer): void {
    const session = this.#own.get(peer);
    if (!session) return;
    this.#own.delete(peer);
    const hasTasks = [...(session.tasks ?? [])].some(({ task }) => task?.id !== undefined);
    if (!hasTasks) return void session.caller.close();
    this.#left.add(session);
    session.onTasksOver = () => {
      this.#left.delete(session);
      void session.caller.close();
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweeping?.();
    const sessions = [...this.#shared.values()];
    const all: Pick<UpstreamSession, 'caller'>[] = [...this.#own.values(), ...this.#left, ...sessions];
    if (this.#offered) all.push(this.#offered);
    this.#offered = undefined;
    this.#own.clear();
    this.#left.clear();
    this.#shared.clear();
    for (const session of sessions) this.#shares.delete(session.who, session);
    await Promise.all(all.map(({ caller }) => caller.close()));
  }

  #sharedSession(peer: Peer, conversation: string | undefined, upstreamEra: Era): UpstreamSession {
    const { clock } = this.#options;
    // A legacy server learns the capabilities of its client only once, when the session is opened.
    const exact = this.areOwn && upstreamEra === 'legacy';
    const key =
      exact || conversation !== undefined || peer.principal !== undefined
        ? JSON.stringify([peer.principal, conversation, exact ? declaredCapabilities(peer) : 0])
        : '';
    let session = this.#shared.get(key);
    if (!session) {
      this.#admit(peer.principal);
      const { maxUpstreamSessions } = this.#options;
      if (maxUpstreamSessions === undefined) {
        this.#checkRoom(this.areOwn ? MAX_OWN : MAX_SHARED, this.#shared.size, peer);
      } else this.#checkRoom(maxUpstreamSessions, this.size, peer);
      const caller = this.#open(
        peer,
        this.areOwn ? declaredCapabilities(peer) : sharedCapabilities(peer),
        { answers: {}, onLog: undefined, onElicited: undefined, onNotification: undefined },
        undefined,
      );
      session = {
        caller,
        owner: undefined,
        uses: 0,
        tasks: undefined,
        onTasksOver: undefined,
        usedAt: 0,
        key,
        who: clientKey(peer),
      };
      this.#shared.set(key, session);
      this.#shares.set(session.who, session);
      this.#sweeping ??= this.#sweepLater();
    }
    session.usedAt = clock.now();
    return session;
  }

  #open(
    peer: Peer,
    capabilities: ClientCapabilities,
    given: UpstreamTenant,
    info: UpstreamSessionOptions['info'],
  ): ReconnectingCaller {
    const { upstream, onReopened } = this.#options;
    const offered = this.#accept(sessionKey(peer, capabilities));
    if (offered) {
      offered.pending.take(given);
      return offered.caller;
    }
    const caller: ReconnectingCaller = upstream.open({
      name: peer.principal ?? peer.info?.name ?? 'a client',
      principal: peer.principal,
      info,
      capabilities,
      answers: given.answers,
      onLog: given.onLog,
      onElicited: given.onElicited,
      onNotification: given.onNotification,
      onReopened: () => onReopened(caller),
    });
    return caller;
  }

  #accept(key: string): OfferedSession | undefined {
    const offered = this.#offered;
    if (offered?.key !== key) return undefined;
    this.#offered = undefined;
    return offered;
  }

  #withdraw(offered: OfferedSession): void {
    if (this.#offered !== offered) return;
    this.#offered = undefined;
    void offered.caller.close();
  }

  /** Two principals never share a process or a session, unless the server is declared stateless. */
  #admit(principal: string | undefined): void {
    const { upstream, stateless } = this.#options;
    if (stateless || upstream.serves !== 'everybody') return;
    this.#only ??= { principal };
    if (this.#only.principal === principal) return;
    throw new IsthmusError(
      'INVALID_OPTION',
      `${upstream.label} has one process for all clients, and it serves another principal: ` +
        'give each principal its own process, or declare the server stateless',
      { sent: 'no' },
    );
  }

  /** Throws if the limit is reached and no session can be closed for the newcomer. */
  #checkRoom(max: number | undefined, taken: number, peer: Peer): void {
    const { upstream, maxUpstreamSessions } = this.#options;
    if (this.#closed) throw new IsthmusError('CONNECTION_CLOSED', 'The bridge is closed', { sent: 'no' });
    if (max === undefined || taken < max) return;
    const who = clientKey(peer);
    const displaced = this.#displacedBy(who);
    if (displaced) return this.#release(displaced);
    // All sessions are in use. A client without a session may exceed the limit, up to twice.
    if (maxUpstreamSessions === undefined && this.#shares.heldBy(who) === 0 && taken < 2 * max) return;
    const message = `${upstream.label} is busy: ${max} sessions are open, which is the limit; try again later`;
    throw new IsthmusError('BUSY', message, { sent: 'no' });
  }

  /** The session of the client with the most sessions that was not used for longest. */
  #displacedBy(who: string): SharedSession | undefined {
    const displacement = this.#shares.displacedBy(who);
    const isFair = displacement.kind === 'from';
    const before = this.#options.clock.now() - (isFair ? 0 : MIN_IDLE_MS);
    let found: SharedSession | undefined;
    for (const each of isFair ? [displacement.who] : displacement.of) {
      for (const session of this.#shares.itemsOf(each)) {
        if (!isIdle(session) || session.usedAt > before) continue;
        if (!found || session.usedAt < found.usedAt) found = session;
      }
    }
    return found;
  }

  #release(session: SharedSession): void {
    this.#shared.delete(session.key);
    this.#shares.delete(session.who, session);
    void session.caller.close();
  }

  #sweepLater(): () => void {
    const { clock, idleMs } = this.#options;
    return clock.after(idleMs, () => this.#sweep(), { background: true });
  }

  /** Closes sessions without recent calls and without subscriptions. The next call opens a new one. */
  #sweep(): void {
    const { clock, idleMs } = this.#options;
    for (const session of this.#shared.values()) {
      if (isIdle(session) && clock.now() - session.usedAt >= idleMs) this.#release(session);
    }
    this.#sweeping = this.#shared.size > 0 ? this.#sweepLater() : undefined;
  }
}

/** The session of modern clients. */
interface SharedSession extends UpstreamSession {
  readonly key: string;
  /** The client that it was opened for. Limits count it for this client. */
  readonly who: string;
  usedAt: number;
}

function isIdle({ uses, caller }: SharedSession): boolean {
  return uses === 0 && !caller.isListening;
}

/** Declared to an upstream that all clients share. When it asks a client that cannot answer, the call fails (META-008). */
export const EVERYTHING: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
  extensions: SHARED_EXTENSIONS,
};

/** The capabilities that are declared to an upstream for its one client, also those that the bridge does not know. */
export function declaredCapabilities({ capabilities, era }: Peer): ClientCapabilities {
  const { tasks, roots, ...rest } = withoutExtension(capabilities, TASKS_EXTENSION);
  return roots ? { ...rest, roots: era === 'legacy' ? roots : {} } : rest;
}

/**
 * The capabilities that are declared to an upstream of several clients when this one connects: what a bridge carries for
 * any client, and the extensions, experiments and unknown capabilities of this one. A legacy process is told what the
 * clients have declared that are there when it starts.
 */
export function sharedCapabilities(peer: Peer): ClientCapabilities {
  const { elicitation, sampling, roots, ...others } = declaredCapabilities(peer);
  return Object.keys(others).length > 0 ? unionOf([EVERYTHING, others]) : EVERYTHING;
}

/** Equal keys: a session that was opened for one client can serve the other. */
export function sessionKey({ principal, era, info }: Peer, capabilities: ClientCapabilities): string {
  return JSON.stringify([principal, era === 'legacy' ? (info ?? '') : 0, capabilities]);
}

/** Limits of the sessions that modern clients open by naming conversations: in one shared process, and with a process each. */
const MAX_SHARED = 10_000;
const MAX_OWN = 1000;
/** A session that was used within this time is not closed for a client with as many sessions. */
const MIN_IDLE_MS = 1000;
/** How long the session of the first client is kept for it. */
const OFFER_MS = 10_000;
