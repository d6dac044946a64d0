import { isJsonObject } from '../wire/json-rpc.js';
import type { ClusterKeys } from './cluster-keys.js';
import type { StoredMember } from './store.js';

/** What a member tells the others. */
export interface MemberFacts {
  /** Of its private listener: `http://10.0.0.7:7946`. */
  readonly address: string;
  readonly version: string;
  /** The version of what members say to each other. */
  readonly protocol: number;
  readonly state: 'ready' | 'draining';
  /** Milliseconds since 1970, by the clock of the store. */
  readonly startedAt: number;
  /** The name of the machine, for people. */
  readonly host: string;
  /** Digests of the servers that it has, by name. Members with the same digest run the same server. */
  readonly servers: Readonly<Record<string, string>>;
  /** The names of the secrets that it has. */
  readonly secrets: readonly string[];
  /** Its earlier ids: others have declared it dead while it lived. */
  readonly formerly: readonly string[];
  /** The workers of one parent process have the same word here. Other members have none. */
  readonly parent?: string;
}

/** A process of the cluster. */
export interface Member extends MemberFacts {
  readonly id: string;
}

/** The members that this one knows, and the last ones that are gone. */
export class MemberList {
  readonly #keys: ClusterKeys;
  #known = new Map<string, Member>();
  #strangers: readonly string[] = [];
  /** The facts of each as the store has them. */
  #sealed = new Map<Member, Uint8Array>();
  /** Earlier ids of members that live. */
  #aliases = new Map<string, string>();
  /** The last that was known of members that are gone, the newest last. */
  readonly #past = new Map<string, Member>();
  /** All ids of members that have said that they leave, the newest last. */
  readonly #left = new Set<string>();

  constructor(keys: ClusterKeys) {
    this.#keys = keys;
  }

  get all(): readonly Member[] {
    return [...this.#known.values()];
  }

  /** Those whose facts cannot be opened. */
  get strangers(): readonly string[] {
    return this.#strangers;
  }

  find(id: string): Member | undefined {
    return this.#known.get(id) ?? this.#known.get(this.#aliases.get(id) ?? '');
  }

  /** A member that is gone. */
  findPast(id: string): Member | undefined {
    return this.#past.get(id);
  }

  hasLeft(id: string): boolean {
    return this.#left.has(id);
  }

  /** It is dead. */
  forget(id: string): void {
    this.#known.delete(id);
    this.#past.delete(id);
  }

  /**
   * Takes over what the store has. What cannot be opened was not written by a member. `isKept`: whether a member that the
   * store does not have stays in the list. True: the list is another one now.
   */
  take(stored: readonly StoredMember[], isKept: (id: string) => boolean): boolean {
    const known = new Map<string, Member>();
    const sealed = new Map<Member, Uint8Array>();
    const strangers: string[] = [];
    for (const { member: id, facts } of stored) {
      // The store has answered before it has heard of that.
      if (this.#left.has(id)) continue;
      const before = this.#known.get(id);
      const isSame = before && Buffer.compare(this.#sealed.get(before)!, facts) === 0;
      const member = isSame ? before : this.#readFacts(id, facts);
      if (!member) {
        strangers.push(id);
        continue;
      }
      known.set(id, member);
      sealed.set(member, facts);
    }
    for (const [id, member] of this.#known) {
      if (known.has(id) || !isKept(id) || isFormer(id, known)) continue;
      known.set(id, member);
      sealed.set(member, this.#sealed.get(member)!);
    }
    const isSame =
      known.size === this.#known.size &&
      [...known].every(([id, each]) => this.#known.get(id) === each) &&
      strangers.join() === this.#strangers.join();
    for (const [id, member] of this.#known) if (!known.has(id)) this.#keepPast(id, member);
    this.#strangers = strangers;
    this.#known = known;
    this.#sealed = sealed;
    if (isSame) return false;
    this.#aliases = new Map(
      [...known.values()].flatMap(({ id, formerly }) => formerly.map((old) => [old, id])),
    );
    return true;
  }

  /** What a member says when it leaves: its id and its earlier ones, so that no process without the secret can say it. */
  sealLeaving(ids: readonly string[]): Buffer {
    return this.#keys.sealer('member', LEAVING).seal(Buffer.from([LEAVING, ...ids].join(' ')));
  }

  /** True: the list is another one now. */
  takeLeaving(value: Uint8Array): boolean {
    const plain = this.#keys.sealer('member', LEAVING).open(value);
    const [what, ...ids] = plain?.toString().split(' ') ?? [];
    if (what !== LEAVING) return false;
    let isOther = false;
    for (const id of ids) {
      this.#left.delete(id);
      this.#left.add(id);
      const member = this.#known.get(id);
      if (!member) continue;
      this.#known.delete(id);
      this.#keepPast(id, member);
      isOther = true;
    }
    while (this.#left.size > MAX_LEFT) this.#left.delete(this.#left.values().next().value!);
    return isOther;
  }

  #keepPast(id: string, member: Member): void {
    this.#past.delete(id);
    this.#past.set(id, member);
    if (this.#past.size > MAX_PAST) this.#past.delete(this.#past.keys().next().value!);
  }

  #readFacts(id: string, sealed: Uint8Array): Member | undefined {
    const plain = this.#keys.sealer('member', id).open(sealed);
    return plain && { ...factsIn(plain), id };
  }
}

/** A member of another version may say other things of itself. It is known, and not talked to. */
function factsIn(plain: Buffer): MemberFacts {
  const said = parseJson(plain);
  if (isFacts(said)) return said;
  const version = isJsonObject(said) && typeof said['version'] === 'string' ? said['version'] : 'unknown';
  const none = { servers: {}, secrets: [], formerly: [] };
  return { ...none, address: '', version, protocol: 0, state: 'ready', startedAt: 0, host: 'unknown' };
}

function isFacts(said: unknown): said is MemberFacts {
  if (!isJsonObject(said)) return false;
  const { address, version, protocol, state, startedAt, host, servers, secrets, formerly } = said;
  return (
    [address, version, host].every((each) => typeof each === 'string') &&
    [protocol, startedAt].every((each) => typeof each === 'number') &&
    (state === 'ready' || state === 'draining') &&
    isJsonObject(servers) &&
    [secrets, formerly].every((each) => Array.isArray(each) && each.every((one) => typeof one === 'string'))
  );
}

function parseJson(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}

function isFormer(id: string, known: ReadonlyMap<string, Member>): boolean {
  return [...known.values()].some(({ formerly }) => formerly.includes(id));
}

/** Not the id of a member. */
const LEAVING = 'leaving';
const MAX_PAST = 100;
const MAX_LEFT = 1000;
