import { LazyAbort } from '@isthmus/sdk/internal/async/abort.js';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ServerCapabilities } from '@isthmus/sdk/internal/wire/model.js';
import { deriveCall } from '../pipeline/derive-call.js';
import type { AggregateMember } from './member.js';
import { asIs, type Merging, mergePages } from './merged-pages.js';
import type { ResourceListKind } from './resource-book.js';
import type { ResourceOwners } from './resource-owners.js';
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
