import { type Clock, systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type {
  Call,
  Change,
  EarlyMessage,
  HeaderParam,
  OpenListen,
  Peer,
  ServedSession,
  Service,
  SessionKeeper,
} from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type {
  Implementation,
  ServerCapabilities,
  SubscriptionFilter,
} from '@isthmus/sdk/internal/wire/model.js';
import { deriveCall } from '../pipeline/derive-call.js';
import { KeptSessions } from './keep-sessions.js';
import { ListenToAll } from './listen-to-all.js';
import { Lists } from './lists.js';
import { type AggregateMember, MemberCalls, MemberObservers } from './members.js';
import type { Wait } from './patience.js';
import { ResourceOwners } from './resource-owners.js';
import { Roster } from './roster.js';
import { type Found, SharedNames } from './shared-names.js';

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
  readonly #lists: Lists;
  readonly #inFlight = new MemberCalls();

  constructor(options: AggregateOptions) {
    this.info = options.info;
    this.#wait = { clock: options.clock ?? systemClock, ms: options.patienceMs ?? 5000 };
    this.#roster = new Roster(this.#wait, this.#observers);
    this.#names = new SharedNames(options.separator ?? '__');
    this.#lists = new Lists(this.#roster, this.#wait, this.#names, this.#owners);
  }

  /** Replaces the servers. Lists show them in this order. */
  setMembers(members: readonly AggregateMember[]): void {
    const before = this.#roster.members;
    const gone = this.#roster.replace(members);
    this.#names.setMembers(members);
    for (const member of gone) {
      this.#owners.forget(member);
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
    const { members } = this.#roster;
    const all = members.flatMap(({ name, service: { instructions } }) =>
      instructions === undefined
        ? []
        : [members.length === 1 ? instructions : `# ${name}\n\n${instructions}`],
    );
    return all.length > 0 ? all.join('\n\n') : undefined;
  }

  /** What any of the servers has. Everything, while one of them is not known yet. Lists can always change. */
  capabilities(): ServerCapabilities {
    const { members } = this.#roster;
    if (members.some((member) => !this.#roster.isKnown(member))) return EVERYTHING;
    return jointCapabilities(members);
  }

  headerParams(tool: string, principal?: string): readonly HeaderParam[] {
    const found = this.#names.read(tool, principal);
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
        return this.#lists.named(call, 'tools');
      case 'prompts/list':
        return this.#lists.named(call, 'prompts');
      case 'resources/list':
        return this.#lists.resources(call);
      case 'resources/templates/list':
        return this.#lists.templates(call);
      case 'tools/call':
      case 'prompts/get':
        return this.#byName(call);
      case 'resources/read':
        return this.#ownerOf(call, call.params['uri'], 'resources');
      case 'completion/complete':
        return this.#complete(call);
      default:
        throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${call.method}`);
    }
  }

  async listen(
    peer: Peer,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
  ): Promise<OpenListen> {
    const listening = new ListenToAll(peer, wanted, onChange);
    listening.onEnd = this.#observers.join(listening);
    return listening.begin(this.#roster.present(), this.#wait);
  }

  session(session: ServedSession): SessionKeeper {
    const { clock, ms } = this.#wait;
    const kept = new KeptSessions(session, this.#roster.present(), {
      ownersOf: (uri) =>
        this.#owners.among(session.peer.principal, uri, this.#roster.askable('resources', session.peer)),
      inTime: (work) => within(clock, ms, work).then((isDone) => (isDone ? work : undefined)),
    });
    kept.onEnd = this.#observers.join(kept);
    return kept;
  }

  async #byName(call: Call): Promise<JsonObject> {
    const { name } = call.params;
    const found = await this.#find(call, name, call.method === 'tools/call' ? 'tools/list' : 'prompts/list');
    if (!found) {
      const what = call.method === 'tools/call' ? 'tool' : 'prompt';
      throw new ProtocolError(ErrorCode.InvalidParams, `Unknown ${what}: ${String(name)}`);
    }
    return this.#forward(found.member, call, { ...call.params, name: found.name });
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

  #ownerOf(call: Call, uri: unknown, capability: keyof ServerCapabilities): Promise<JsonObject> {
    const { principal } = call.peer;
    return this.#owners.ask(principal, uri, this.#roster.askable(capability, call.peer), (member) =>
      this.#forward(member, call, call.params),
    );
  }

  #find(call: Call, name: unknown, method: 'tools/list' | 'prompts/list'): Promise<Found | undefined> {
    return this.#names.find(call, name, method, (listing) => this.handle(listing));
  }

  async #forward(member: AggregateMember, call: Call, params: JsonObject): Promise<JsonObject> {
    if (!this.#roster.isKnown(member)) await this.#roster.meet(member, call, call.peer.principal);
    return this.#inFlight.run(member, () => member.service.handle(deriveCall(call, { params })));
  }
}

/** Requests whose answer a client reads only once. */
const OPENINGS: ReadonlySet<string> = new Set(['initialize', 'server/discover', 'subscriptions/listen']);

/** What any of the servers has. Lists can always change, because servers come and go. Tools are always declared. */
function jointCapabilities(members: readonly AggregateMember[]): ServerCapabilities {
  const all = members.map(({ service }) => service.capabilities());
  const has = (name: keyof ServerCapabilities) => all.some((each) => each[name] !== undefined);
  const { tools, prompts, resources, completions, logging } = EVERYTHING;
  return {
    tools,
    ...(has('prompts') && { prompts }),
    ...(has('resources') && { resources }),
    ...(has('completions') && { completions }),
    ...(has('logging') && { logging }),
  };
}

const EVERYTHING = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
} satisfies ServerCapabilities;
