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
import { type AggregateMember, Audience, MemberCalls } from './members.js';
import { ResourceOwners } from './resource-owners.js';
import { Roster, type Wait } from './roster.js';
import { type Found, SharedNames } from './shared-names.js';

export interface AggregateOptions {
  readonly info: Implementation;
  /** Between the name of a server and that of its tool or prompt. Default `__`. */
  readonly separator?: string | undefined;
  /** How long a list waits for a server that is not there yet, or does not answer. Default 5 s. */
  readonly patienceMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Several servers as one: tools and prompts under the names of their servers, resources under their own. A single
 * one keeps its names.
 */
export class Aggregate implements Service {
  readonly info: Implementation;
  readonly discoveryCache = undefined;
  readonly #wait: Wait;
  readonly #audience = new Audience();
  readonly #roster: Roster;
  readonly #names: SharedNames;
  readonly #owners = new ResourceOwners();
  readonly #lists: Lists;
  readonly #inFlight = new MemberCalls();

  constructor(options: AggregateOptions) {
    this.info = options.info;
    this.#wait = { clock: options.clock ?? systemClock, ms: options.patienceMs ?? 5000 };
    this.#roster = new Roster(this.#wait, this.#audience);
    this.#names = new SharedNames(options.separator ?? '__');
    this.#lists = new Lists(this.#roster, this.#wait.clock, this.#names, this.#owners);
  }

  /** The servers are these from now on, in this order. */
  setMembers(parts: readonly AggregateMember[]): void {
    const before = this.#roster.parts;
    const gone = this.#roster.replace(parts);
    this.#names.setMembers(parts);
    for (const part of gone) {
      this.#owners.forget(part);
      this.#audience.drop(part, this.drained(part));
    }
    if (gone.length > 0 || before.length !== parts.length) this.#audience.announceLists();
    for (const part of parts) if (!before.includes(part)) this.review(part);
  }

  /** Settles when a server that is not one of them any more has finished what it was asked for here. */
  drained(part: AggregateMember): Promise<void> {
    return this.#inFlight.drained(part);
  }

  /** Something happened to this server: it may have come, or gone. */
  review(part: AggregateMember): void {
    this.#roster.review(part);
  }

  get instructions(): string | undefined {
    const { parts } = this.#roster;
    const all = parts.flatMap(({ name, service: { instructions } }) =>
      instructions === undefined ? [] : [parts.length === 1 ? instructions : `# ${name}\n\n${instructions}`],
    );
    return all.length > 0 ? all.join('\n\n') : undefined;
  }

  /** What any of them has; anything, while one of them has yet to say. Lists can always change. */
  capabilities(): ServerCapabilities {
    const { parts } = this.#roster;
    if (parts.some((part) => !this.#roster.isKnown(part))) return EVERYTHING;
    return jointCapabilities(parts);
  }

  headerParams(tool: string, principal?: string): readonly HeaderParam[] {
    const found = this.#names.read(tool, principal);
    return found?.part.service.headerParams?.(found.name, principal) ?? [];
  }

  watch(): () => void {
    return () => {};
  }

  /** Waits for the servers, but not for long: one that is away does not hold up the others. */
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
    listening.onEnd = this.#audience.join(listening);
    return listening.begin(this.#roster.present());
  }

  session(near: ServedSession): SessionKeeper {
    const { clock, ms } = this.#wait;
    const kept = new KeptSessions(near, this.#roster.present(), {
      ownersOf: (uri) =>
        this.#owners.among(near.peer.principal, uri, this.#roster.askable('resources', near.peer)),
      inTime: (work) => within(clock, ms, work).then((isDone) => (isDone ? work : undefined)),
    });
    kept.onEnd = this.#audience.join(kept);
    return kept;
  }

  async #byName(call: Call): Promise<JsonObject> {
    const { name } = call.params;
    const found = await this.#find(call, name, call.method === 'tools/call' ? 'tools/list' : 'prompts/list');
    if (!found) {
      const what = call.method === 'tools/call' ? 'tool' : 'prompt';
      throw new ProtocolError(ErrorCode.InvalidParams, `Unknown ${what}: ${String(name)}`);
    }
    return this.#forward(found.part, call, { ...call.params, name: found.name });
  }

  async #complete(call: Call): Promise<JsonObject> {
    const { ref } = call.params;
    if (isJsonObject(ref) && ref['type'] === 'ref/prompt') {
      const found = await this.#find(call, ref['name'], 'prompts/list');
      if (!found) throw new ProtocolError(ErrorCode.InvalidParams, `Unknown prompt: ${String(ref['name'])}`);
      return this.#forward(found.part, call, { ...call.params, ref: { ...ref, name: found.name } });
    }
    const uri = isJsonObject(ref) ? ref['uri'] : undefined;
    return this.#ownerOf(call, uri, 'completions');
  }

  #ownerOf(call: Call, uri: unknown, capability: keyof ServerCapabilities): Promise<JsonObject> {
    const { principal } = call.peer;
    return this.#owners.ask(principal, uri, this.#roster.askable(capability, call.peer), (part) =>
      this.#forward(part, call, call.params),
    );
  }

  #find(call: Call, name: unknown, method: 'tools/list' | 'prompts/list'): Promise<Found | undefined> {
    return this.#names.find(call, name, method, (listing) => this.handle(listing));
  }

  async #forward(part: AggregateMember, call: Call, params: JsonObject): Promise<JsonObject> {
    if (!this.#roster.isKnown(part)) await this.#roster.meet(part, call, call.peer.principal);
    return this.#inFlight.run(part, () => part.service.handle(deriveCall(call, { params })));
  }
}

/** What a client can only be told once. */
const OPENINGS: ReadonlySet<string> = new Set(['initialize', 'server/discover', 'subscriptions/listen']);

/** What any of the servers has. Lists can always change, since servers come and go; there are always tools to ask for. */
function jointCapabilities(parts: readonly AggregateMember[]): ServerCapabilities {
  const all = parts.map(({ service }) => service.capabilities());
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
