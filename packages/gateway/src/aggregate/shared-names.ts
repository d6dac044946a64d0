import { createHash } from 'node:crypto';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { deriveCall } from '../pipeline/derive.js';
import { asIs, type Merging } from './lists.js';
import type { AggregateMember } from './members.js';

/** A tool or a prompt of one of the servers. */
export interface Found {
  readonly member: AggregateMember;
  /** Its name at that server. */
  readonly name: string;
}

/** The names that tools and prompts have in the merged lists. A single server keeps its names. */
export class SharedNames {
  readonly #separator: string;
  readonly #shortened = new ShortenedNames();
  #members: readonly AggregateMember[] = [];
  #names: Names;

  constructor(separator: string) {
    this.#separator = separator;
    this.#names = new Names(separator, []);
  }

  setMembers(members: readonly AggregateMember[]): void {
    this.#members = members;
    this.#names = new Names(
      this.#separator,
      members.map(({ name }) => name),
    );
  }

  /** How the items of a list are shown to this principal. */
  renamer(principal: string | undefined): Merging['present'] {
    if (this.#members.length === 1) return asIs;
    return (member, item) => {
      const named: NamedItem = { server: member.name, name: String(item['name']) };
      const name = this.#names.to(named);
      if (name !== this.#names.plain(named)) this.#shortened.learn(name, named, principal);
      return { ...item, name };
    };
  }

  /** The tool or prompt that a name stands for, if that is known. */
  read(name: unknown, principal: string | undefined): Found | undefined {
    if (typeof name !== 'string') return undefined;
    if (this.#members.length === 1) return { member: this.#members[0]!, name };
    const found = this.#shortened.get(name, principal) ?? this.#names.from(name);
    const member = this.#members.find((each) => each.name === found?.server);
    return member && { member, name: found!.name };
  }

  /**
   * The same for a call. A shortened name is known from an earlier list. A client may know it from before this process
   * started: then `list` is called for each page, and its names are learnt.
   */
  async find(
    call: Call,
    name: unknown,
    method: 'tools/list' | 'prompts/list',
    list: (call: Call) => Promise<JsonObject>,
  ): Promise<Found | undefined> {
    const { principal } = call.peer;
    if (typeof name === 'string' && this.isUnknown(name, principal))
      await this.readLists(call, method, list, () => this.#shortened.get(name, principal) !== undefined);
    return this.read(name, principal);
  }

  /** Reads all pages of a list, so that its names are learnt, until `isEnough`. */
  async readLists(
    call: Call,
    method: 'tools/list' | 'prompts/list',
    list: (call: Call) => Promise<JsonObject>,
    isEnough = () => false,
  ): Promise<void> {
    let cursor: unknown;
    let pages = 0;
    do {
      pages += 1;
      const params = cursor === undefined ? {} : { cursor };
      const page = await list(deriveCall(call, { method, params, isSilent: true }));
      cursor = page['nextCursor'];
    } while (cursor !== undefined && pages < MAX_PAGES && !isEnough() && !call.cancellation.aborted);
  }

  /** The name in the merged lists. */
  to(named: NamedItem): string {
    return this.#names.to(named);
  }

  /** A name that may have been shortened, and that no list has shown yet. */
  isUnknown(name: string, principal: string | undefined): boolean {
    return this.#names.isDoubtful(name) && !this.#shortened.get(name, principal);
  }
}

/** How many pages are read to find a name. A server may return cursors without end (S11). */
const MAX_PAGES = 100;

/** Names that do not show their server. They are learnt from the lists of each principal, and used for it alone. */
class ShortenedNames {
  readonly #known = new ByPrincipal(() => new Map<string, NamedItem>());

  get(name: string, principal: string | undefined): NamedItem | undefined {
    return this.#known.get(principal)?.get(name);
  }

  learn(shortened: string, named: NamedItem, principal: string | undefined): void {
    const known = this.#known.of(principal);
    known.delete(shortened);
    known.set(shortened, named);
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
  }
}

/** For each principal. When one is missing, the lists are read again. */
const MAX_KNOWN = 2000;

export interface NamedItem {
  readonly server: string;
  readonly name: string;
}

/**
 * Makes names such as `weather__forecast` for the tools and prompts of several servers. A server can have any name, but
 * clients and models accept at most 128 characters of `A-Z a-z 0-9 _ - .` for a tool. So the prefix is made from the name
 * of the server, and is the same as that name where possible.
 */
export class Names {
  readonly #separator: string;
  readonly #prefixes: ReadonlyMap<string, string>;
  /** The longest prefix first: with servers `a` and `a__b`, the tool `a__b__c` belongs to `a__b`. */
  readonly #inTurn: readonly (readonly [server: string, start: string])[];
  readonly #isAmbiguous: boolean;

  constructor(separator: string, servers: readonly string[]) {
    this.#separator = separator;
    this.#prefixes = prefixesOf(servers);
    this.#inTurn = [...this.#prefixes]
      .map(([server, prefix]) => [server, prefix + separator] as const)
      .sort(([, a], [, b]) => b.length - a.length);
    this.#isAmbiguous = this.#inTurn.some(([, a]) =>
      this.#inTurn.some(([, b]) => a !== b && a.startsWith(b)),
    );
  }

  /** The merged name of a tool or prompt. */
  to({ server, name }: NamedItem): string {
    const plain = this.plain({ server, name });
    if (plain.length <= MAX_LENGTH && this.from(plain)?.server === server) return plain;
    const mark = createHash('sha256').update(`${server}\0${name}`).digest('hex').slice(0, MARK);
    return `${plain.slice(0, MAX_LENGTH - MARK - 1)}-${mark}`;
  }

  plain({ server, name }: NamedItem): string {
    return `${this.#prefixes.get(server) ?? server}${this.#separator}${name}`;
  }

  /** The server of a merged name, and the name there. Not for names that were shortened. */
  from(name: string): NamedItem | undefined {
    const found = this.#inTurn.find(([, start]) => name.startsWith(start));
    return found && { server: found[0], name: name.slice(found[1].length) };
  }

  /** Whether a name may have been shortened, or replaced because it reads like a name of another server. */
  isDoubtful(name: string): boolean {
    return /-[0-9a-f]{8}$/.test(name) && (name.length === MAX_LENGTH || this.#isAmbiguous);
  }
}

/** Names that are legal stay as they are, whatever the other servers are. The others get a free prefix, in their order. */
function prefixesOf(servers: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(servers.filter(isLegal));
  return new Map(
    servers.map((server) => {
      if (isLegal(server)) return [server, server];
      const legal = legalise(server);
      let prefix = legal;
      for (let count = 2; taken.has(prefix); count += 1) prefix = `${legal}-${count}`;
      taken.add(prefix);
      return [server, prefix];
    }),
  );
}

function isLegal(server: string): boolean {
  return /^[A-Za-z0-9_.-]+$/.test(server) && server.length <= MAX_PREFIX;
}

/** `My Server` becomes `My_Server`, and `Zürich` becomes `Zurich`. */
function legalise(server: string): string {
  const legal = server
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .slice(0, MAX_PREFIX)
    .replace(/^_+|_+$/g, '');
  return legal || 'server';
}

const MAX_LENGTH = 128;
/** The rest of `MAX_LENGTH` is for the tools. */
const MAX_PREFIX = 64;
const MARK = 8;
