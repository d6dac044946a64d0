import { createHash } from 'node:crypto';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { deriveCall } from '../pipeline/derive-call.js';
import { asIs, type Merging } from './lists.js';
import type { AggregateMember } from './members.js';

/** A tool or a prompt of one of the servers. */
export interface Found {
  readonly part: AggregateMember;
  /** What it is called there. */
  readonly name: string;
}

/** The names of tools and prompts among those of all servers. A single server keeps its names. */
export class SharedNames {
  readonly #separator: string;
  readonly #shortened = new ShortenedNames();
  #parts: readonly AggregateMember[] = [];
  #names: Names;

  constructor(separator: string) {
    this.#separator = separator;
    this.#names = new Names(separator, []);
  }

  setMembers(parts: readonly AggregateMember[]): void {
    this.#parts = parts;
    this.#names = new Names(
      this.#separator,
      parts.map(({ name }) => name),
    );
  }

  /** How the items of a list are shown to this principal. */
  renamer(principal: string | undefined): Merging['present'] {
    if (this.#parts.length === 1) return asIs;
    return (part, item) => {
      const named: NamedItem = { server: part.name, name: String(item['name']) };
      const name = this.#names.to(named);
      if (name !== this.#names.plain(named)) this.#shortened.learn(name, named, principal);
      return { ...item, name };
    };
  }

  /** What a name stands for, as far as that is known. */
  read(name: unknown, principal: string | undefined): Found | undefined {
    if (typeof name !== 'string') return undefined;
    if (this.#parts.length === 1) return { part: this.#parts[0]!, name };
    const found = this.#shortened.get(name, principal) ?? this.#names.from(name);
    const part = this.#parts.find((each) => each.name === found?.server);
    return part && { part, name: found!.name };
  }

  /**
   * The same for a call. A name that does not say whose it is has been in a list. A client that knows it from before
   * our time needs us to look: `list` asks for a page, whose names are learnt on the way.
   */
  async find(
    call: Call,
    name: unknown,
    method: 'tools/list' | 'prompts/list',
    list: (call: Call) => Promise<JsonObject>,
  ): Promise<Found | undefined> {
    const { principal } = call.peer;
    if (typeof name === 'string' && this.#isUnknown(name, principal)) {
      let cursor: unknown;
      let pages = 0;
      do {
        pages += 1;
        const params = cursor === undefined ? {} : { cursor };
        const page = await list(deriveCall(call, { method, params, isSilent: true }));
        cursor = page['nextCursor'];
      } while (
        cursor !== undefined &&
        pages < MAX_PAGES &&
        !this.#shortened.get(name, principal) &&
        !call.cancellation.aborted
      );
    }
    return this.read(name, principal);
  }

  #isUnknown(name: string, principal: string | undefined): boolean {
    return this.#names.isDoubtful(name) && !this.#shortened.get(name, principal);
  }
}

/** How many pages are read to find a name; a server may give out cursors without end (S11). */
const MAX_PAGES = 100;

/** Names that do not say by themselves whose they are: learnt from the lists of each principal, and used for it alone. */
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

/** Of one principal; the list is asked for again where one is missing. */
const MAX_KNOWN = 2000;

export interface NamedItem {
  readonly server: string;
  readonly name: string;
}

/**
 * How the tools and prompts of several servers are told apart: `weather__forecast`. Servers may be called anything,
 * tools may not: clients and models take 128 of `A-Z a-z 0-9 _ - .`, so what stands before the separator is made of
 * the name of the server, and is that name wherever it can be.
 */
export class Names {
  readonly #separator: string;
  readonly #prefixes: ReadonlyMap<string, string>;
  /** The longest first: of `a` and `a__b` the second one has `a__b__c`. */
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

  /** What a name of one server is among those of all. */
  to({ server, name }: NamedItem): string {
    const plain = this.plain({ server, name });
    if (plain.length <= MAX_LENGTH && this.from(plain)?.server === server) return plain;
    const mark = createHash('sha256').update(`${server}\0${name}`).digest('hex').slice(0, MARK);
    return `${plain.slice(0, MAX_LENGTH - MARK - 1)}-${mark}`;
  }

  plain({ server, name }: NamedItem): string {
    return `${this.#prefixes.get(server) ?? server}${this.#separator}${name}`;
  }

  /** The server that a name belongs to, and what it is called there; but for names that had to be shortened. */
  from(name: string): NamedItem | undefined {
    const found = this.#inTurn.find(([, start]) => name.startsWith(start));
    return found && { server: found[0], name: name.slice(found[1].length) };
  }

  /** It may have been shortened, or stand for one that is read as that of another server. */
  isDoubtful(name: string): boolean {
    return /-[0-9a-f]{8}$/.test(name) && (name.length === MAX_LENGTH || this.#isAmbiguous);
  }
}

/** Names that need no change keep their prefix, whoever else is there; the others come after them, in their order. */
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
/** The rest is for the tools. */
const MAX_PREFIX = 64;
const MARK = 8;
