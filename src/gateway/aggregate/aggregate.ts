import { type Clock, systemClock } from '../../async/clock.js';
import { within } from '../../async/within.js';
import { IsthmusError, ProtocolError } from '../../errors.js';
import type {
  Call,
  Change,
  HeaderParam,
  Opening,
  OpenListen,
  Peer,
  ServedSession,
  Service,
  SessionKeeper,
} from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { Implementation, ServerCapabilities, SubscriptionFilter } from '../../wire/model.js';
import { Audience } from './audience.js';
import { askWithin, LateAnswer } from './bounded.js';
import { InFlight } from './in-flight.js';
import { KeptSessions } from './keep-sessions.js';
import { ListenToAll } from './listen-to-all.js';
import { type Merging, mergePages } from './merged-pages.js';
import { type Named, Names } from './names.js';
import type { Part } from './part.js';
import { ListCall, PartCall } from './part-call.js';
import { Patience } from './patience.js';
import type { ListKind } from './resource-book.js';
import { ResourceOwners } from './resource-owners.js';
import { ShortenedNames } from './shortened-names.js';

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
  readonly #separator: string;
  readonly #patience: { readonly clock: Clock; readonly ms: number };
  readonly #waits: Patience;
  readonly #owners = new ResourceOwners();
  readonly #audience = new Audience();
  readonly #inFlight = new InFlight();
  #parts: readonly Part[] = [];
  #names: Names;
  readonly #shortened = new ShortenedNames();
  /** Those that have answered once: what they can do is known. */
  readonly #known = new Set<Part>();
  /** Those whose absence its clients know of, or will with their next list. */
  readonly #absent = new Set<Part>();

  constructor(options: AggregateOptions) {
    this.info = options.info;
    this.#separator = options.separator ?? '__';
    this.#names = new Names(this.#separator, []);
    this.#patience = { clock: options.clock ?? systemClock, ms: options.patienceMs ?? 5000 };
    this.#waits = new Patience(this.#patience.ms);
  }

  /** The servers are these from now on, in this order. */
  setParts(parts: readonly Part[]): void {
    const before = this.#parts;
    this.#parts = parts;
    this.#names = new Names(
      this.#separator,
      parts.map(({ name }) => name),
    );
    const gone = before.filter((part) => !parts.includes(part));
    for (const part of gone) {
      this.#known.delete(part);
      this.#absent.delete(part);
      this.#owners.forget(part);
      this.#audience.drop(part, this.drained(part));
    }
    if (gone.length > 0 || before.length !== parts.length) this.#audience.announceLists();
    for (const part of parts) if (!before.includes(part)) this.review(part);
  }

  /** Settles when a server that is not one of them any more has finished what it was asked for here. */
  drained(part: Part): Promise<void> {
    return this.#inFlight.drained(part);
  }

  /** Something happened to this server: it may have come, or gone. */
  review(part: Part): void {
    if (!this.#parts.includes(part)) return;
    const wasAbsent = this.#absent.has(part);
    if (part.absence() !== undefined) {
      this.#absent.add(part);
      if (!wasAbsent) this.#audience.announceLists();
      return;
    }
    this.#absent.delete(part);
    if (!this.#known.has(part)) {
      if (this.#audience.size > 0) this.#meet(part, NOTHING, undefined).catch(() => {});
    } else if (wasAbsent) {
      this.#waits.forget(part);
      this.#audience.adopt(part);
      this.#audience.announceLists();
    }
  }

  get instructions(): string | undefined {
    const all = this.#parts.flatMap(({ name, service: { instructions } }) =>
      instructions === undefined ? [] : [this.#isSingle ? instructions : `# ${name}\n\n${instructions}`],
    );
    return all.length > 0 ? all.join('\n\n') : undefined;
  }

  /** What any of them has; anything, while one of them has yet to say. Lists can always change. */
  capabilities(): ServerCapabilities {
    if (this.#parts.some((part) => !this.#known.has(part))) return EVERYTHING;
    const all = this.#parts.map(({ service }) => service.capabilities());
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

  headerParams(tool: string, principal?: string): readonly HeaderParam[] {
    const found = this.#named(tool, principal);
    return found?.part.service.headerParams?.(found.name, principal) ?? [];
  }

  watch(): () => void {
    return () => {};
  }

  /** Waits for the servers, but not for long: one that is away does not hold up the others. */
  ready(opening: Opening, principal: string | undefined): Promise<void> | undefined {
    if (!OPENINGS.has(opening.method)) return undefined;
    const unknown = this.#parts.filter(
      (part) => !this.#known.has(part) && part.absence({ principal }) === undefined,
    );
    if (unknown.length === 0) return undefined;
    const meetings = unknown.map((part) =>
      this.#meet(part, opening, principal, this.#waits.msFor(part, principal)).catch(() =>
        this.#waits.wasLate(part, principal),
      ),
    );
    return Promise.all(meetings).then(() => {});
  }

  async handle(call: Call): Promise<JsonObject> {
    switch (call.method) {
      case 'tools/list':
        return this.#list(call, 'tools', 'tools', this.#renamer(call));
      case 'prompts/list':
        return this.#list(call, 'prompts', 'prompts', this.#renamer(call));
      case 'resources/list':
        return this.#list(call, 'resources', 'resources', asIs, this.#learner(call, 'resources', 'uri'));
      case 'resources/templates/list':
        return this.#list(
          call,
          'resourceTemplates',
          'resources',
          asIs,
          this.#learner(call, 'templates', 'uriTemplate'),
        );
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
    return listening.begin(this.#present());
  }

  session(near: ServedSession): SessionKeeper {
    const { clock, ms } = this.#patience;
    const kept = new KeptSessions(near, this.#present(), {
      ownersOf: (uri) => this.#owners.among(near.peer.principal, uri, this.#askable('resources', near.peer)),
      inTime: (work) => within(clock, ms, work).then((isDone) => (isDone ? work : undefined)),
    });
    kept.onEnd = this.#audience.join(kept);
    return kept;
  }

  get #isSingle(): boolean {
    return this.#parts.length === 1;
  }

  #list(
    call: Call,
    key: string,
    capability: keyof ServerCapabilities,
    present: Merging['present'],
    learn?: Merging['learn'],
  ): Promise<JsonObject> {
    const { principal } = call.peer;
    const { clock } = this.#patience;
    const ask = async (part: Part, params: JsonObject) => {
      const reason = part.absence(call.peer);
      if (reason !== undefined) {
        this.#absent.add(part);
        throw new IsthmusError('CONNECTION_CLOSED', reason, { sent: 'no' });
      }
      const ms = this.#waits.msFor(part, principal);
      try {
        const page = await askWithin({ clock, ms }, part, call, params, async (own) => {
          await this.#meet(part, own, principal);
          return part.service.handle(own);
        });
        this.#waits.answered(part, principal);
        return page;
      } catch (error) {
        if (error instanceof LateAnswer) this.#waits.wasLate(part, principal);
        throw error;
      }
    };
    return mergePages(call.params['cursor'], {
      ...{ key, parts: this.#with(capability), ask, present },
      ...(learn && { learn }),
    });
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
    return this.#owners.ask(principal, uri, this.#askable(capability, call.peer), (part) =>
      this.#forward(part, call, call.params),
    );
  }

  #learner(call: Call, kind: ListKind, member: string): NonNullable<Merging['learn']> {
    const { principal } = call.peer;
    return (part, items, page) => {
      const uris = items.map((item) => item[member]).filter((uri) => typeof uri === 'string');
      this.#owners.learn(principal, part, kind, uris, page);
    };
  }

  async #forward(part: Part, call: Call, params: JsonObject): Promise<JsonObject> {
    if (!this.#known.has(part)) await this.#meet(part, call, call.peer.principal);
    return this.#inFlight.run(part, () => part.service.handle(new PartCall(call, params)));
  }

  /** A server that has not answered yet is waited for, but not for long. When it answers later, its audience hears of it. */
  async #meet(
    part: Part,
    opening: Opening,
    principal: string | undefined,
    ms = this.#patience.ms,
  ): Promise<void> {
    if (this.#known.has(part)) return;
    const { clock } = this.#patience;
    const ready = part.service.ready?.({ method: opening.method, params: opening.params }, principal);
    const met = Promise.resolve(ready).then(() => this.#welcome(part));
    if (!(await within(clock, ms, met))) {
      const message = `${part.name} is still starting; try again later`;
      throw new ProtocolError(ErrorCode.InternalError, message, { reason: 'TIMED_OUT', sent: 'no' });
    }
    await met;
  }

  #welcome(part: Part): void {
    if (this.#known.has(part) || !this.#parts.includes(part)) return;
    this.#known.add(part);
    this.#waits.forget(part);
    this.#audience.adopt(part);
    this.#audience.announceLists();
  }

  #renamer({ peer: { principal } }: Call): Merging['present'] {
    if (this.#isSingle) return asIs;
    return (part, item) => {
      const named: Named = { server: part.name, name: String(item['name']) };
      const name = this.#names.to(named);
      if (name !== this.#names.plain(named)) this.#shortened.learn(name, named, principal);
      return { ...item, name };
    };
  }

  /** A name that does not say whose it is has been in a list; who comes with it from before our time needs us to look. */
  async #find(call: Call, name: unknown, method: 'tools/list' | 'prompts/list'): Promise<Found | undefined> {
    const { principal } = call.peer;
    if (typeof name === 'string' && this.#names.isDoubtful(name) && !this.#shortened.get(name, principal)) {
      let cursor: unknown;
      let pages = 0;
      do {
        pages += 1;
        const page = await this.handle(new ListCall(call, method, cursor === undefined ? {} : { cursor }));
        cursor = page['nextCursor'];
      } while (
        cursor !== undefined &&
        pages < MAX_PAGES &&
        !this.#shortened.get(name, principal) &&
        !call.cancellation.aborted
      );
    }
    return this.#named(name, principal);
  }

  #named(name: unknown, principal: string | undefined): Found | undefined {
    if (typeof name !== 'string') return undefined;
    if (this.#isSingle) return { part: this.#parts[0]!, name };
    const found = this.#shortened.get(name, principal) ?? this.#names.from(name);
    const part = this.#parts.find((each) => each.name === found?.server);
    return part && { part, name: found!.name };
  }

  /** Those that have it, or have yet to say. */
  #with(capability: keyof ServerCapabilities): Part[] {
    return this.#parts.filter(
      (part) => !this.#known.has(part) || part.service.capabilities()[capability] !== undefined,
    );
  }

  /** Without those that are known to be away and have never been there. */
  #askable(capability: keyof ServerCapabilities, asker: Peer): Part[] {
    return this.#with(capability).filter(
      (part) => this.#known.has(part) || part.absence(asker) === undefined,
    );
  }

  #present(): Part[] {
    return this.#parts.filter((part) => this.#known.has(part));
  }
}

function asIs(_part: Part, item: JsonObject): JsonObject {
  return item;
}

interface Found {
  readonly part: Part;
  /** What it is called there. */
  readonly name: string;
}

const EVERYTHING = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
} satisfies ServerCapabilities;

/** What a client can only be told once. */
const OPENINGS: ReadonlySet<string> = new Set(['initialize', 'server/discover', 'subscriptions/listen']);
const NOTHING: Opening = { method: '', params: undefined };

/** How many pages are read to find a name; a server may give out cursors without end (S11). */
const MAX_PAGES = 100;
