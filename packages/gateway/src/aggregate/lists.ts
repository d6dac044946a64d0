import { LazyAbort } from '@isthmus/sdk/internal/async/abort.js';
import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { deriveCall } from '../pipeline/derive.js';
import type { BareNames, ListViewer } from './bare-names.js';
import { hasSkills, jointMeta } from './foreign-methods.js';
import { ABSENT, type Absent, type AggregateMember } from './members.js';
import { gather, type Wait } from './patience.js';
import type { PagePosition, ResourceListKind, ResourceOwners } from './resource-owners.js';
import type { Roster } from './roster.js';
import type { SharedNames } from './shared-names.js';
import type { SharedUris } from './shared-uris.js';
import type { KnownOfServers } from './targets.js';

/** The lists of all servers as one. */
export class Lists {
  readonly #roster: Roster;
  readonly #wait: Wait;
  readonly #names: SharedNames;
  readonly #owners: ResourceOwners;
  readonly #uris: SharedUris;
  readonly #bare: BareNames;

  constructor({ roster, names, owners, uris, bare }: KnownOfServers, wait: Wait) {
    this.#roster = roster;
    this.#wait = wait;
    this.#names = names;
    this.#owners = owners;
    this.#uris = uris;
    this.#bare = bare;
  }

  tools(call: Call): Promise<JsonObject> {
    const { principal } = call.peer;
    const rename = this.#names.renamer(principal);
    const present: Merging['present'] = (member, tool) =>
      rename(member, this.#uris.showTool(principal, member, tool));
    const learn: Merging['learn'] = (member, tools, { isFirst }) => {
      const names = tools.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
      this.#bare.learn(viewerOf(call), member.name, names, isFirst);
    };
    return this.#list(call, 'tools', this.#roster.with('tools'), present, learn);
  }

  prompts(call: Call): Promise<JsonObject> {
    const rename = this.#names.renamer(call.peer.principal);
    return this.#list(call, 'prompts', this.#roster.with('prompts'), rename);
  }

  resources(call: Call): Promise<JsonObject> {
    const learn = this.#learner(call, 'resources', 'uri');
    return this.#list(call, 'resources', this.#roster.with('resources'), this.#showItem(call), learn);
  }

  templates(call: Call): Promise<JsonObject> {
    const learn = this.#learner(call, 'templates', 'uriTemplate');
    return this.#list(call, 'resourceTemplates', this.#roster.with('resources'), asIs, learn);
  }

  /** A skill is known by its server and its URI: two servers may have one with the same URI. */
  skills(call: Call): Promise<JsonObject> {
    const members = this.#roster.with('extensions').filter(hasSkills);
    return this.#list(call, 'skills', members, this.#showItem(call));
  }

  #showItem({ peer }: Call): Merging['present'] {
    return (member, item) => this.#uris.showItem(peer.principal, member, item);
  }

  #list(
    call: Call,
    key: string,
    members: readonly AggregateMember[],
    present: Merging['present'],
    learn?: Merging['learn'],
  ): Promise<JsonObject> {
    return mergePages(call.params['cursor'], {
      key,
      members,
      ask: (places) => this.#askAll(call, places),
      present,
      ...(learn && { learn }),
    });
  }

  /** Asks all servers at once. The list goes on without those that are late. Clients are told when they answer. */
  async #askAll(
    call: Call,
    places: readonly ListPlace[],
  ): Promise<readonly PromiseSettledResult<JsonObject>[]> {
    const { cancellation, peer } = call;
    const { principal } = peer;
    const { patience } = this.#roster;
    const abort = new LazyAbort();
    const follow = () => abort.abort(cancellation.reason);
    if (cancellation.aborted) follow();
    else cancellation.addEventListener('abort', follow);
    const asked = places.map(({ member, at }) => ({
      work: this.#ask(member, call, at === undefined ? {} : { cursor: at }, abort),
      holding: patience.of(member, principal),
    }));
    const answers = await gather(this.#wait, asked);
    cancellation.removeEventListener('abort', follow);
    const late = places.flatMap(({ member }, at) =>
      answers[at] === undefined ? [{ member, work: asked[at]!.work }] : [],
    );
    if (late.length > 0 && !abort.aborted) this.#awaitLate(late, principal, abort);
    return answers.map((answer, at) => {
      const { member } = places[at]!;
      if (answer?.status === 'fulfilled') this.#roster.answered(member, principal, true);
      return answer ?? { status: 'rejected', reason: lateAnswer(member) };
    });
  }

  /** One page of one server. */
  async #ask(
    member: AggregateMember,
    whole: Call,
    params: JsonObject,
    abort: LazyAbort,
  ): Promise<JsonObject> {
    const { principal } = whole.peer;
    const reason = member.absence(whole.peer);
    if (reason !== undefined) {
      this.#roster.miss(member);
      throw new IsthmusError('CONNECTION_CLOSED', reason, { sent: 'no' });
    }
    if (this.#roster.patience.isAsked(member, principal)) throw lateAnswer(member);
    const call = deriveCall(whole, { params, abort, isSilent: true });
    if (!this.#roster.isKnown(member)) await this.#roster.meet(member, call, principal);
    return member.service.handle(call);
  }

  /** The list was answered without these servers. Their answers are awaited for the patience once more. */
  #awaitLate(late: readonly LateWork[], principal: string | undefined, abort: LazyAbort): void {
    const { clock, ms } = this.#wait;
    const { patience } = this.#roster;
    let left = late.length;
    const callOff = clock.after(ms, () => {
      for (const { member } of late)
        if (patience.isAsked(member, principal)) patience.wasLate(member, principal, false);
      abort.abort(new IsthmusError('TIMED_OUT', 'the list was answered without it'));
    });
    const settle = () => {
      left -= 1;
      if (left === 0) callOff();
    };
    for (const { member, work } of late) {
      patience.wasLate(member, principal, true);
      work
        .then(
          () => this.#roster.answered(member, principal, false),
          () => patience.isAsked(member, principal) && patience.wasLate(member, principal, false),
        )
        .finally(settle);
    }
  }

  /** The lists show which server has a resource. */
  #learner(call: Call, kind: ResourceListKind, key: string): NonNullable<Merging['learn']> {
    const { principal } = call.peer;
    return (member, items, page) => {
      const uris = items.map((item) => item[key]).filter((uri) => typeof uri === 'string');
      this.#owners.learn(principal, member, kind, uris, page);
    };
  }
}

/** The scopes of a token decide which servers are listed. */
export function viewerOf({ peer, request }: Call): ListViewer {
  return { principal: peer.principal, scopes: request?.scopes };
}

interface LateWork {
  readonly member: AggregateMember;
  readonly work: Promise<JsonObject>;
}

/** The server may be healthy, but it took too long for this list. */
function lateAnswer({ name }: AggregateMember): IsthmusError {
  return new IsthmusError('TIMED_OUT', `${name} did not answer in time`);
}

export interface Merging {
  /** The property of the result that holds the entries. */
  readonly key: string;
  readonly members: readonly AggregateMember[];
  ask(places: readonly ListPlace[]): Promise<readonly PromiseSettledResult<JsonObject>[]>;
  /** An entry as the merged list shows it. */
  present(member: AggregateMember, item: JsonObject): JsonObject;
  /** Called with each page that a server has listed. */
  learn?(member: AggregateMember, items: readonly JsonObject[], page: PagePosition): void;
}

/**
 * The lists of several servers as one, always in the order of the servers. Each page holds the next page of each server
 * that has one. The cursor names those servers. A server that fails is left out and named in `_meta`.
 */
export async function mergePages(cursor: unknown, merging: Merging): Promise<JsonObject> {
  const { key, members, ask, present } = merging;
  const places = cursor === undefined ? members.map(atBeginning) : readCursor(cursor, members);
  const pages = await ask(places);
  const items: JsonObject[] = [];
  const absent: Absent[] = [];
  const next: [string, string][] = [];
  const answers: JsonObject[] = [];
  for (const [index, { member, at }] of places.entries()) {
    const page = pages[index]!;
    if (page.status === 'fulfilled') {
      const { [key]: list, nextCursor } = page.value;
      answers.push(page.value);
      const own = Array.isArray(list) ? list.filter(isJsonObject) : [];
      const isLast = typeof nextCursor !== 'string' || nextCursor === at;
      merging.learn?.(member, own, { isFirst: at === undefined, isLast });
      for (const item of own) items.push(present(member, item));
      if (!isLast) next.push([member.name, nextCursor]);
    } else {
      const { reason } = page;
      // The client must hear that its cursor is not valid any more.
      if (at !== undefined && isOf(reason, ErrorCode.InvalidParams)) throw reason;
      if (!isWithout(reason)) absent.push({ server: member.name, reason: messageOf(reason) });
    }
  }
  const _meta = { ...jointMeta(answers), ...(absent.length > 0 && { [ABSENT]: absent }) };
  return {
    [key]: items,
    ...(next.length > 0 && { nextCursor: writeCursor(next) }),
    ...(Object.keys(_meta).length > 0 && { _meta }),
  };
}

/** The server does not have such a list, so nothing is missing. */
function isWithout(error: unknown): boolean {
  return isOf(error, ErrorCode.MethodNotFound);
}

function isOf(error: unknown, code: number): boolean {
  return error instanceof ProtocolError && error.code === code;
}

/** Where a list goes on at one server: at this cursor, or at its beginning. */
export interface ListPlace {
  readonly member: AggregateMember;
  readonly at: string | undefined;
}

function atBeginning(member: AggregateMember): ListPlace {
  return { member, at: undefined };
}

function writeCursor(next: readonly (readonly [string, string])[]): string {
  return Buffer.from(JSON.stringify(next)).toString('base64url');
}

/** A server that was removed meanwhile is left out. The rest of the list is still valid. */
function readCursor(cursor: unknown, members: readonly AggregateMember[]): ListPlace[] {
  const pairs = parseCursor(cursor);
  if (!pairs) throw new ProtocolError(ErrorCode.InvalidParams, 'Invalid cursor');
  return members.flatMap((member) => {
    const pair = pairs.find(([name]) => name === member.name);
    return pair ? [{ member, at: pair[1] }] : [];
  });
}

function parseCursor(cursor: unknown): [string, string][] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(String(cursor), 'base64url').toString());
    return Array.isArray(value) && value.length > 0 && value.every(isPair) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isPair(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === 'string');
}

/** Shows an item as the server has it. */
export function asIs(_member: AggregateMember, item: JsonObject): JsonObject {
  return item;
}
