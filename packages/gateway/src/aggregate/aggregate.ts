import { type Clock, systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type {
  Call,
  Change,
  EarlyMessage,
  ForeignNotification,
  HeaderParam,
  OpenListen,
  Peer,
  ServedSession,
  Service,
  SessionKeeper,
} from '@isthmus/sdk/internal/exchange/call.js';
import { instructionsOf } from '@isthmus/sdk/internal/exchange/instructions-of.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type {
  Implementation,
  ServerCapabilities,
  SubscriptionFilter,
} from '@isthmus/sdk/internal/wire/model.js';
import { deriveCall } from '../pipeline/derive.js';
import { BareNames } from './bare-names.js';
import { askKnowers, hasSkills } from './foreign-methods.js';
import { jointCapabilities, jointInstructions } from './joint-offer.js';
import { KeptSessions } from './keep-sessions.js';
import { ListenToAll } from './listen-to-all.js';
import { Lists, viewerOf } from './lists.js';
import { type AggregateMember, MemberCalls, MemberObservers } from './members.js';
import type { Wait } from './patience.js';
import { ResourceOwners } from './resource-owners.js';
import { Roster } from './roster.js';
import { type Found, SharedNames } from './shared-names.js';
import { anyWithTasks, keeperOf, TASK_REQUESTS } from './shared-tasks.js';
import { SharedUris } from './shared-uris.js';
import { type KnownOfServers, Targets } from './targets.js';

export interface AggregateOptions {
  readonly info: Implementation;
  /** Between the name of a server and that of its tool or prompt. Default `__`. */
  readonly separator?: string | undefined;
  /** How long a call, or at most a list, waits for a server that is starting or does not answer. Default 5 s. */
  readonly patienceMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Several servers as one. Tools and prompts have the name of their server as a prefix; resources keep their URIs. A single
 * server keeps its names.
 */
export class Aggregate implements Service {
  readonly info: Implementation;
  readonly discoveryCache = undefined;
  readonly #wait: Wait;
  readonly #observers = new MemberObservers();
  readonly #roster: Roster;
  readonly #names: SharedNames;
  readonly #owners = new ResourceOwners();
  readonly #uris = new SharedUris();
  readonly #bare = new BareNames();
  readonly #lists: Lists;
  /** Which server a request is for. */
  readonly targets: Targets;
  readonly #inFlight = new MemberCalls();

  constructor(options: AggregateOptions) {
    this.info = options.info;
    this.#wait = { clock: options.clock ?? systemClock, ms: options.patienceMs ?? 5000 };
    this.#roster = new Roster(this.#wait, this.#observers);
    this.#names = new SharedNames(options.separator ?? '__');
    const known: KnownOfServers = {
      roster: this.#roster,
      names: this.#names,
      owners: this.#owners,
      uris: this.#uris,
      bare: this.#bare,
    };
    this.#lists = new Lists(known, this.#wait);
    this.targets = new Targets(known, this.#ask);
  }

  /** Replaces the servers. Lists show them in this order. */
  setMembers(members: readonly AggregateMember[]): void {
    const before = this.#roster.members;
    const gone = this.#roster.replace(members);
    this.#names.setMembers(members);
    this.#uris.setMembers(members);
    for (const member of gone) {
      this.#owners.forget(member);
      this.#bare.forget(member.name);
      this.#observers.drop(member, this.drained(member));
    }
    if (gone.length > 0 || before.length !== members.length) this.#observers.announceLists();
    for (const member of members) if (!before.includes(member)) this.review(member);
  }

  /** Settles when a removed server has finished the calls of the aggregate. */
  drained(member: AggregateMember): Promise<void> {
    return this.#inFlight.drained(member);
  }

  /** The state of this server has changed: it may have come or gone. */
  review(member: AggregateMember): void {
    this.#roster.review(member);
  }

  get instructions(): string | undefined {
    return jointInstructions(this.#roster.members, ({ instructions }) => instructions);
  }

  instructionsFor(peer: Peer): string | undefined {
    return jointInstructions(this.#roster.members, (service) => instructionsOf(service, peer));
  }

  capabilities(): ServerCapabilities {
    return jointCapabilities(this.#roster.members, this.#roster.present());
  }

  headerParams(tool: string, principal?: string): readonly HeaderParam[] {
    const found = this.targets.toolOfAny(tool, principal);
    return found?.member.service.headerParams?.(found.name, principal) ?? [];
  }

  watch(): () => void {
    return () => {};
  }

  /** Waits for the servers for a bounded time, so that an absent server does not hold up the others. */
  ready(opening: EarlyMessage, principal: string | undefined): Promise<void> | undefined {
    return OPENINGS.has(opening.method) ? this.#roster.meetAll(opening, principal) : undefined;
  }

  async handle(call: Call): Promise<JsonObject> {
    switch (call.method) {
      case 'tools/list':
        return this.#lists.tools(call);
      case 'prompts/list':
        return this.#lists.prompts(call);
      case 'resources/list':
        return this.#lists.resources(call);
      case 'resources/templates/list':
        return this.#lists.templates(call);
      case 'tools/call':
        return this.#callTool(call);
      case 'prompts/get':
        return this.#getPrompt(call);
      case 'resources/read':
        return this.#readAt(call, 'contents');
      case 'completion/complete':
        return this.#complete(call);
      case 'skills/list':
        if (this.#roster.present().some(hasSkills)) return this.#lists.skills(call);
        break;
      case 'skills/get':
      case 'resources/directory/read':
        return this.#readAt(call, call.method === 'skills/get' ? 'skill' : 'resources');
    }
    if (TASK_REQUESTS.has(call.method)) return this.#aboutTask(call);
    const askable = this.#roster.present();
    return askKnowers(call.method, askable, (member) => this.#forward(member, call, call.params));
  }

  /** Every server that a client may mean. A server that does not know the notification ignores it. */
  notify(notification: ForeignNotification, peer: Peer): void {
    for (const { service } of this.#roster.present()) service.notify?.(notification, peer);
  }

  async listen(
    peer: Peer,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
  ): Promise<OpenListen> {
    const listening = new ListenToAll(peer, wanted, this.#uris, (change, from) =>
      onChange(from ? this.#uris.showChange(peer.principal, from, change) : change),
    );
    listening.onEnd = this.#observers.join(listening);
    return listening.begin(this.#roster.present(), this.#wait);
  }

  session(session: ServedSession): SessionKeeper {
    const { clock, ms } = this.#wait;
    const kept = new KeptSessions(session, this.#roster.present(), {
      uris: this.#uris,
      ownersOf: (uri) => {
        const named = this.#uris.read(uri);
        const askable = this.#roster.askable('resources', session.peer);
        return named ? [named.member] : this.#owners.among(session.peer.principal, uri, askable);
      },
      inTime: (work) => within(clock, ms, work).then((isDone) => (isDone ? work : undefined)),
    });
    kept.onEnd = this.#observers.join(kept);
    return kept;
  }

  async #callTool(call: Call): Promise<JsonObject> {
    const { name } = call.params;
    const { principal } = call.peer;
    if (typeof name === 'string') await this.targets.learnTools([name], call);
    const viewer = viewerOf(call);
    const found = typeof name === 'string' ? this.targets.toolOf(name, viewer) : undefined;
    if (!found) throw this.targets.unknownTool(String(name), viewer);
    const result = this.#forward(found.member, call, { ...call.params, name: found.name });
    return this.#uris.hasAliases ? this.#uris.showResult(principal, found.member, await result) : result;
  }

  async #aboutTask(call: Call): Promise<JsonObject> {
    const { principal } = call.peer;
    let keeper = await keeperOf(call, this.#roster.present());
    const meeting = keeper ? undefined : this.#roster.meetAll(call, principal);
    if (meeting) {
      // A store may have kept it while the gateway was away, and its server has not answered since.
      await meeting;
      keeper = await keeperOf(call, this.#roster.present());
    }
    const member = keeper ?? anyWithTasks(call, this.#roster.present());
    const answer = await this.#forward(member, call, call.params);
    return this.#uris.hasAliases ? this.#uris.showTask(principal, member, answer) : answer;
  }

  async #getPrompt(call: Call): Promise<JsonObject> {
    const { name } = call.params;
    const found = await this.#find(call, name, 'prompts/list');
    if (!found) throw new ProtocolError(ErrorCode.InvalidParams, `Unknown prompt: ${String(name)}`);
    return this.#forward(found.member, call, { ...call.params, name: found.name });
  }

  /** A resource or a skill, at the server that its URI names, or else at the one that has it. */
  async #readAt(call: Call, member: 'contents' | 'resources' | 'skill'): Promise<JsonObject> {
    const { uri } = call.params;
    const { principal } = call.peer;
    const named = this.#uris.read(uri);
    if (named) {
      const result = await this.#forward(named.member, call, { ...call.params, uri: named.uri });
      return this.#shownAt(named.member, principal, result, member);
    }
    const keeper = this.#uris.keeperOf(principal, uri);
    return this.#ownerOf(call, uri, 'resources', keeper);
  }

  /** The URIs in a result of a server, as clients know them. */
  #shownAt(
    at: AggregateMember,
    principal: string | undefined,
    result: JsonObject,
    key: 'contents' | 'resources' | 'skill',
  ): JsonObject {
    const show = (item: unknown) => (isJsonObject(item) ? this.#uris.showItem(principal, at, item) : item);
    const value = result[key];
    return { ...result, [key]: Array.isArray(value) ? value.map(show) : show(value) };
  }

  async #complete(call: Call): Promise<JsonObject> {
    const { ref } = call.params;
    if (isJsonObject(ref) && ref['type'] === 'ref/prompt') {
      const found = await this.#find(call, ref['name'], 'prompts/list');
      if (!found) throw new ProtocolError(ErrorCode.InvalidParams, `Unknown prompt: ${String(ref['name'])}`);
      return this.#forward(found.member, call, { ...call.params, ref: { ...ref, name: found.name } });
    }
    const uri = isJsonObject(ref) ? ref['uri'] : undefined;
    return this.#ownerOf(call, uri, 'completions');
  }

  /** `keeper`: the server that most likely has it. */
  #ownerOf(
    call: Call,
    uri: unknown,
    capability: keyof ServerCapabilities,
    keeper?: AggregateMember,
  ): Promise<JsonObject> {
    const { principal } = call.peer;
    const askable = this.#roster.askable(capability, call.peer);
    const inTurn =
      keeper && askable.includes(keeper)
        ? [keeper, ...askable.filter((member) => member !== keeper)]
        : askable;
    return this.#owners.ask(principal, uri, inTurn, (member) => this.#forward(member, call, call.params));
  }

  #find(call: Call, name: unknown, method: 'tools/list' | 'prompts/list'): Promise<Found | undefined> {
    return this.#names.find(call, name, method, this.#ask);
  }

  readonly #ask = (listing: Call): Promise<JsonObject> => this.handle(listing);

  async #forward(member: AggregateMember, call: Call, params: JsonObject): Promise<JsonObject> {
    if (!this.#roster.isKnown(member)) await this.#roster.meet(member, call, call.peer.principal);
    return this.#inFlight.run(member, () => member.service.handle(deriveCall(call, { params })));
  }
}

/** Requests whose answer a client reads only once. */
const OPENINGS: ReadonlySet<string> = new Set(['initialize', 'server/discover', 'subscriptions/listen']);
