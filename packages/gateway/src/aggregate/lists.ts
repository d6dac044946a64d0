import { LazyAbort } from '@isthmus/sdk/internal/async/abort.js';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ServerCapabilities } from '@isthmus/sdk/internal/wire/model.js';
import { deriveCall } from '../pipeline/derive-call.js';
import { ABSENT, type Absent, type AggregateMember } from './members.js';
import type { PagePosition, ResourceListKind, ResourceOwners } from './resource-owners.js';
import type { Roster, Wait } from './roster.js';
import type { SharedNames } from './shared-names.js';

/** The lists of all servers as one. */
export class Lists {
  readonly #roster: Roster;
  readonly #clock: Wait['clock'];
  readonly #names: SharedNames;
  readonly #owners: ResourceOwners;

  constructor(roster: Roster, clock: Wait['clock'], names: SharedNames, owners: ResourceOwners) {
    this.#roster = roster;
    this.#clock = clock;
    this.#names = names;
    this.#owners = owners;
  }

  named(call: Call, key: 'tools' | 'prompts'): Promise<JsonObject> {
    return this.#list(call, key, key, this.#names.renamer(call.peer.principal));
  }

  resources(call: Call): Promise<JsonObject> {
    return this.#list(call, 'resources', 'resources', asIs, this.#learner(call, 'resources', 'uri'));
  }

  templates(call: Call): Promise<JsonObject> {
    const learn = this.#learner(call, 'templates', 'uriTemplate');
    return this.#list(call, 'resourceTemplates', 'resources', asIs, learn);
  }

  #list(
    call: Call,
    key: string,
    capability: keyof ServerCapabilities,
    present: Merging['present'],
    learn?: Merging['learn'],
  ): Promise<JsonObject> {
    return mergePages(call.params['cursor'], {
      key,
      members: this.#roster.with(capability),
      ask: (member, params) => this.#ask(member, call, params),
      present,
      ...(learn && { learn }),
    });
  }

  /** One page of one server. The next list waits less long for a server that was late. */
  async #ask(member: AggregateMember, call: Call, params: JsonObject): Promise<JsonObject> {
    const { principal } = call.peer;
    const { waits } = this.#roster;
    const reason = member.absence(call.peer);
    if (reason !== undefined) {
      this.#roster.miss(member);
      throw new IsthmusError('CONNECTION_CLOSED', reason, { sent: 'no' });
    }
    const wait = { clock: this.#clock, ms: waits.msFor(member, principal) };
    try {
      const page = await askWithin(wait, member, call, params, async (own) => {
        await this.#roster.meet(member, own, principal);
        return member.service.handle(own);
      });
      waits.answered(member, principal);
      return page;
    } catch (error) {
      if (error instanceof LateAnswer) waits.wasLate(member, principal);
      throw error;
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

/** The server may be healthy, but it took too long for this list. */
class LateAnswer extends IsthmusError {}

/** Asks one server for its page of a list. A server that does not answer in time does not hold up the others. */
async function askWithin(
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
  member: AggregateMember,
  whole: Call,
  params: JsonObject,
  ask: (call: Call) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { cancellation } = whole;
  const abort = new LazyAbort();
  const follow = () => abort.abort(cancellation.reason);
  if (cancellation.aborted) follow();
  else cancellation.addEventListener('abort', follow);
  const late = createDeferred<never>();
  const callOff = clock.after(ms, () => {
    const error = new LateAnswer('TIMED_OUT', `${member.name} did not answer within ${ms / 1000} s`);
    abort.abort(error);
    late.reject(error);
  });
  try {
    return await Promise.race([ask(deriveCall(whole, { params, abort, isSilent: true })), late.promise]);
  } finally {
    callOff();
    cancellation.removeEventListener('abort', follow);
  }
}

export interface Merging {
  /** The property of the result that holds the entries. */
  readonly key: string;
  readonly members: readonly AggregateMember[];
  ask(member: AggregateMember, params: JsonObject): Promise<JsonObject>;
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
  const pages = await Promise.allSettled(
    places.map(({ member, at }) => ask(member, at === undefined ? {} : { cursor: at })),
  );
  const items: JsonObject[] = [];
  const absent: Absent[] = [];
  const next: [string, string][] = [];
  for (const [index, { member, at }] of places.entries()) {
    const page = pages[index]!;
    if (page.status === 'fulfilled') {
      const { [key]: list, nextCursor } = page.value;
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
  return {
    [key]: items,
    ...(next.length > 0 && { nextCursor: writeCursor(next) }),
    ...(absent.length > 0 && { _meta: { [ABSENT]: absent } }),
  };
}

/** The server does not have such a list, so nothing is missing. */
function isWithout(error: unknown): boolean {
  return isOf(error, ErrorCode.MethodNotFound);
}

function isOf(error: unknown, code: number): boolean {
  return error instanceof ProtocolError && error.code === code;
}

interface Place {
  readonly member: AggregateMember;
  readonly at: string | undefined;
}

function atBeginning(member: AggregateMember): Place {
  return { member, at: undefined };
}

function writeCursor(next: readonly (readonly [string, string])[]): string {
  return Buffer.from(JSON.stringify(next)).toString('base64url');
}

/** A server that was removed meanwhile is left out. The rest of the list is still valid. */
function readCursor(cursor: unknown, members: readonly AggregateMember[]): Place[] {
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
