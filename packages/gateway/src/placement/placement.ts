import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { Member } from '@isthmus/sdk/internal/cluster/member-list.js';
import { chooseMember } from '@isthmus/sdk/internal/cluster/rendezvous.js';
import type { HomeRequest } from '@isthmus/sdk/internal/exchange/connection.js';
import { digestDefinition, isSameDefinition } from '../cluster/definition-digest.js';
import type { GatewayServerSpec } from '../server-definition.js';

/** Where the processes of a server are: in each member, or at one home for those who share a process. */
export function placementOf(spec: GatewayServerSpec): 'local' | 'one' {
  if (spec.kind === 'broken') return 'local';
  const { placement = 'auto' } = spec;
  if (placement !== 'auto') return placement;
  // What a remote server keeps, it keeps there.
  if (spec.kind !== 'command' || spec.stateless) return 'local';
  return typeof spec.processes === 'object' ? 'local' : 'one';
}

/** Who shares a process of a server: all clients, or those of one principal. Undefined: each member may have its own. */
export function seatOf(
  specs: readonly GatewayServerSpec[],
  { method, principal }: Pick<HomeRequest, 'method' | 'principal'>,
): string | undefined {
  let isPlaced = false;
  for (const spec of specs) {
    if (placementOf(spec) === 'local') continue;
    const model = spec.kind === 'command' ? spec.processes : 'per-principal';
    // Such a process belongs to a legacy session, wherever that is.
    if (model === 'per-conversation' && method === 'initialize') continue;
    if (model !== 'per-principal' && model !== 'per-conversation') return EVERYBODY;
    isPlaced = true;
  }
  if (!isPlaced) return undefined;
  return principal === undefined ? EVERYBODY : `principal ${principal}`;
}

/** Where the processes of a server are, for operators. */
export interface ServerPlacement {
  readonly placement: 'local' | 'one';
  /** Who shares a process. */
  readonly seat: 'everybody' | 'principal' | 'session' | undefined;
  /** The member that has the process that all clients share. */
  readonly home: string | undefined;
}

export interface PlacementOptions {
  readonly cluster: Cluster;
  /** Between the name of a server and that of its tool. */
  readonly separator: string;
  /** Whether callers are authenticated. */
  readonly hasPrincipals: boolean;
}

/**
 * Chooses the member that serves a request, where servers remember something: all requests of those who share a process
 * go to the member that has it, its home. Members choose alike, without asking each other.
 */
export class Placement {
  readonly #options: PlacementOptions;
  #digests: Readonly<Record<string, string>> = {};
  #isNeeded = false;

  constructor(options: PlacementOptions) {
    this.#options = options;
  }

  /** These are the servers of this member. The others hear of it: only members with the same server can be its home. */
  setServers(specs: readonly GatewayServerSpec[]): void {
    const { keys, members } = this.#options.cluster;
    this.#digests = Object.fromEntries(
      specs
        .filter((spec) => placementOf(spec) === 'one')
        .map((spec) => [spec.name, digestDefinition(keys, spec)]),
    );
    this.#isNeeded = Object.keys(this.#digests).length > 0;
    void members.say({ servers: this.#digests });
  }

  /** Whether any server has a home. */
  get isNeeded(): boolean {
    return this.#isNeeded;
  }

  /** The id of the member that serves the request. Undefined: any member can. */
  homeFor(specs: readonly GatewayServerSpec[], request: HomeRequest): string | undefined {
    const meant = this.#meant(specs, request);
    const seat = seatOf(meant, request);
    return seat === undefined ? undefined : this.#homeOf(seat, meant, request.except);
  }

  /** Whether another member is the home of this server for all clients, so that it is not started here. */
  isElsewhere(spec: GatewayServerSpec): boolean {
    const { members } = this.#options.cluster;
    const isShared = seatOf([spec], { method: 'initialize', principal: undefined }) === EVERYBODY;
    if (!isShared) return false;
    // An older member that has not told its servers yet is about to be the home.
    const isNew = ({ state, servers }: Member) => state === 'ready' && Object.keys(servers).length === 0;
    const { own } = members;
    if (members.all.some((each) => !members.isSelf(each.id) && isNew(each) && isOlder(each, own)))
      return true;
    return !members.isSelf(this.#homeOf(EVERYBODY, [spec]));
  }

  /** Where the processes of each server are, as this member sees it. */
  describe(specs: readonly GatewayServerSpec[]): Readonly<Record<string, ServerPlacement>> {
    const found: Record<string, ServerPlacement> = Object.create(null);
    for (const spec of specs) found[spec.name] = this.#describe(spec);
    return found;
  }

  #describe(spec: GatewayServerSpec): ServerPlacement {
    const placement = placementOf(spec);
    if (placement === 'local') return { placement, home: undefined, seat: undefined };
    const seat = seatOf([spec], {
      method: 'initialize',
      principal: this.#options.hasPrincipals ? 'anybody' : undefined,
    });
    if (seat !== EVERYBODY) {
      return { placement, home: undefined, seat: seat === undefined ? 'session' : 'principal' };
    }
    return { placement, home: this.#homeOf(EVERYBODY, [spec]), seat: 'everybody' };
  }

  /** Of several servers that look like one, a tool belongs to the server that its name begins with. */
  #meant(specs: readonly GatewayServerSpec[], { method, params }: HomeRequest): readonly GatewayServerSpec[] {
    const name = params?.['name'];
    if (specs.length < 2 || typeof name !== 'string' || (method !== 'tools/call' && method !== 'prompts/get'))
      return specs;
    const owner = specs.find((spec) => name.startsWith(`${spec.name}${this.#options.separator}`));
    return owner ? [owner] : specs;
  }

  #homeOf(seat: string, specs: readonly GatewayServerSpec[], except?: ReadonlySet<string>): string {
    const { members } = this.#options.cluster;
    const names = specs.map(({ name }) => name).filter((name) => this.#digests[name] !== undefined);
    const mayBe = ({ id, state, protocol, servers }: Member) =>
      state === 'ready' &&
      protocol === members.own.protocol &&
      !except?.has(id) &&
      (members.isSelf(id) || names.every((name) => isSameDefinition(servers[name], this.#digests[name])));
    const candidates = members.all.filter(mayBe);
    if (candidates.length === 0) return members.self;
    // The oldest stays the home when others come. Principals are spread over all members.
    if (seat === EVERYBODY) return candidates.reduce((a, b) => (isOlder(b, a) ? b : a)).id;
    return chooseMember(
      seat,
      candidates.map(({ id }) => id),
    )!;
  }
}

function isOlder(a: Member, b: Member): boolean {
  return a.startedAt === b.startedAt ? a.id < b.id : a.startedAt < b.startedAt;
}

const EVERYBODY = 'everybody';
