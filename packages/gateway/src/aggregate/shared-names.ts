import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { deriveCall } from '../pipeline/derive-call.js';
import type { AggregateMember } from './member.js';
import { asIs, type Merging } from './merged-pages.js';
import { type NamedItem, Names } from './names.js';

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

  setParts(parts: readonly AggregateMember[]): void {
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
