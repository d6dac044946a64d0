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
      parts: this.#roster.with(capability),
      ask: (part, params) => this.#ask(part, call, params),
      present,
      ...(learn && { learn }),
    });
  }

  /** One page of one server; a server that was late is waited for less long the next time. */
  async #ask(part: AggregateMember, call: Call, params: JsonObject): Promise<JsonObject> {
    const { principal } = call.peer;
    const { waits } = this.#roster;
    const reason = part.absence(call.peer);
    if (reason !== undefined) {
      this.#roster.miss(part);
      throw new IsthmusError('CONNECTION_CLOSED', reason, { sent: 'no' });
    }
    const wait = { clock: this.#clock, ms: waits.msFor(part, principal) };
    try {
      const page = await askWithin(wait, part, call, params, async (own) => {
        await this.#roster.meet(part, own, principal);
        return part.service.handle(own);
      });
      waits.answered(part, principal);
      return page;
    } catch (error) {
      if (error instanceof LateAnswer) waits.wasLate(part, principal);
      throw error;
    }
  }

  /** Whose a resource is, is read off the lists. */
  #learner(call: Call, kind: ResourceListKind, member: string): NonNullable<Merging['learn']> {
    const { principal } = call.peer;
    return (part, items, page) => {
      const uris = items.map((item) => item[member]).filter((uri) => typeof uri === 'string');
      this.#owners.learn(principal, part, kind, uris, page);
    };
  }
}

/** The server may be well, but it took too long for this list. */
class LateAnswer extends IsthmusError {}

/** Asks one of several servers for its part of a list; one that does not answer in time does not hold up the others. */
async function askWithin(
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
  part: AggregateMember,
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
    const error = new LateAnswer('TIMED_OUT', `${part.name} did not answer within ${ms / 1000} s`);
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
  /** The member of the result that holds the entries. */
  readonly key: string;
  readonly parts: readonly AggregateMember[];
  ask(part: AggregateMember, params: JsonObject): Promise<JsonObject>;
  /** An entry as it is put into the list of all. */
  present(part: AggregateMember, item: JsonObject): JsonObject;
  /** Told what a server has listed, page by page. */
  learn?(part: AggregateMember, items: readonly JsonObject[], page: PagePosition): void;
}

/**
 * The lists of several servers as one, always in the order of the servers. Each page holds the next page of each
 * server that has one, and the cursor says which those are. A server that fails costs its own entries, and is named
 * in `_meta`.
 */
export async function mergePages(cursor: unknown, merging: Merging): Promise<JsonObject> {
  const { key, parts, ask, present } = merging;
  const places = cursor === undefined ? parts.map(atBeginning) : readCursor(cursor, parts);
  const pages = await Promise.allSettled(
    places.map(({ part, at }) => ask(part, at === undefined ? {} : { cursor: at })),
  );
  const items: JsonObject[] = [];
  const absent: Absent[] = [];
  const next: [string, string][] = [];
  for (const [index, { part, at }] of places.entries()) {
    const page = pages[index]!;
    if (page.status === 'fulfilled') {
      const { [key]: list, nextCursor } = page.value;
      const own = Array.isArray(list) ? list.filter(isJsonObject) : [];
      const isLast = typeof nextCursor !== 'string' || nextCursor === at;
      merging.learn?.(part, own, { isFirst: at === undefined, isLast });
      for (const item of own) items.push(present(part, item));
      if (!isLast) next.push([part.name, nextCursor]);
    } else {
      const { reason } = page;
      // A cursor that its server has forgotten is the client's to know of.
      if (at !== undefined && isOf(reason, ErrorCode.InvalidParams)) throw reason;
      if (!isWithout(reason)) absent.push({ server: part.name, reason: messageOf(reason) });
    }
  }
  return {
    [key]: items,
    ...(next.length > 0 && { nextCursor: writeCursor(next) }),
    ...(absent.length > 0 && { _meta: { [ABSENT]: absent } }),
  };
}

/** It has no such list; nothing is missing. */
function isWithout(error: unknown): boolean {
  return isOf(error, ErrorCode.MethodNotFound);
}

function isOf(error: unknown, code: number): boolean {
  return error instanceof ProtocolError && error.code === code;
}

interface Place {
  readonly part: AggregateMember;
  readonly at: string | undefined;
}

function atBeginning(part: AggregateMember): Place {
  return { part, at: undefined };
}

function writeCursor(next: readonly (readonly [string, string])[]): string {
  return Buffer.from(JSON.stringify(next)).toString('base64url');
}

/** A server that is configured no longer is left out: the rest of the list is still good. */
function readCursor(cursor: unknown, parts: readonly AggregateMember[]): Place[] {
  const pairs = parseCursor(cursor);
  if (!pairs) throw new ProtocolError(ErrorCode.InvalidParams, 'Invalid cursor');
  return parts.flatMap((part) => {
    const pair = pairs.find(([name]) => name === part.name);
    return pair ? [{ part, at: pair[1] }] : [];
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

/** Items that are shown as the server has them. */
export function asIs(_part: AggregateMember, item: JsonObject): JsonObject {
  return item;
}
