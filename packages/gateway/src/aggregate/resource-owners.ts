import { IsthmusError, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AggregateMember } from './members.js';

/**
 * Which server a resource belongs to. This is kept for each principal, because a server may show each of them other
 * resources. If several servers list a URI, the first one of the configuration owns it. A successful read counts only where
 * no list names the URI. URIs are not renamed, because clients know them from elsewhere.
 */
export class ResourceOwners {
  readonly #books = new ByPrincipal(() => new ResourceBook());
  readonly #maxBytes: number;
  /** An upper bound of the memory of all books. It is counted again when the limit is reached. */
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Records a page that a server has listed for this principal. */
  learn(
    principal: string | undefined,
    member: AggregateMember,
    kind: ResourceListKind,
    uris: readonly string[],
    page: PagePosition,
  ): void {
    this.#change(principal, (book) => book.learnPage(member.name, kind, uris, page));
  }

  forget(member: AggregateMember): void {
    for (const book of this.#books.values()) book.forgetServer(member.name);
  }

  /** The servers to ask for a resource: its owner, or all where the owner is not known. */
  among(
    principal: string | undefined,
    uri: unknown,
    members: readonly AggregateMember[],
  ): readonly AggregateMember[] {
    const book = this.#books.get(principal);
    if (!book || typeof uri !== 'string') return members;
    const readAt = book.readAt(uri);
    const owner =
      members.find(({ name }) => book.isListed(uri, name)) ?? members.find(({ name }) => name === readAt);
    return owner ? [owner] : members;
  }

  /** Asks the owner of a resource. Where the owner is not known, asks one server after the other until one has it. */
  async ask<T>(
    principal: string | undefined,
    uri: unknown,
    members: readonly AggregateMember[],
    action: (member: AggregateMember) => Promise<T>,
  ): Promise<T> {
    let refusal: unknown;
    let away: unknown;
    const [first, ...more] = this.among(principal, uri, members);
    // A read proves less than a list. If the resource is not there any more, the other servers are asked, too.
    const wasRead = first && this.#isReadAt(principal, uri, first);
    const turns = wasRead
      ? [first, ...members.filter((member) => member !== first)]
      : first
        ? [first, ...more]
        : [];
    for (const member of turns) {
      try {
        const result = await action(member);
        // An earlier server that is away may own it, so nothing is recorded.
        if (away === undefined) this.#learnRead(principal, uri, member);
        return result;
      } catch (error) {
        if (isAway(error)) {
          if (wasRead && member === first) throw error;
          away ??= error;
        } else if (isNotThere(error)) {
          refusal ??= error;
          if (typeof uri === 'string') this.#books.get(principal)?.forgetRead(uri);
        } else throw error;
      }
    }
    const unknown = new ProtocolError(ErrorCode.InvalidParams, `No server has ${String(uri)}`, { uri });
    throw refusal ?? away ?? unknown;
  }

  #learnRead(principal: string | undefined, uri: unknown, member: AggregateMember): void {
    if (typeof uri !== 'string') return;
    this.#change(principal, (book) => {
      if (!book.isListed(uri, member.name)) book.learnRead(uri, member.name);
    });
  }

  #isReadAt(principal: string | undefined, uri: unknown, member: AggregateMember): boolean {
    const book = this.#books.get(principal);
    if (!book || typeof uri !== 'string' || book.isListed(uri, member.name)) return false;
    return book.readAt(uri) === member.name;
  }

  #change(principal: string | undefined, change: (book: ResourceBook) => void): void {
    const book = this.#books.of(principal);
    const before = book.size;
    change(book);
    this.#bytes += book.size - before;
    if (this.#bytes > this.#maxBytes) this.#makeRoom();
  }

  /** Clears the largest book first, so that one principal cannot push out the others. */
  #makeRoom(): void {
    let largest: ResourceBook | undefined;
    this.#bytes = 0;
    for (const book of this.#books.values()) {
      this.#bytes += book.size;
      if (!largest || book.size > largest.size) largest = book;
    }
    if (this.#bytes <= this.#maxBytes || !largest) return;
    this.#bytes -= largest.size;
    largest.clear();
  }
}

/** This server does not have the resource. Another one may. */
function isNotThere(error: unknown): boolean {
  return error instanceof ProtocolError && NOT_THERE.has(error.code);
}

/** The server cannot be asked now. The bridge sets a reason where it was not the server that answered. */
function isAway(error: unknown): boolean {
  if (error instanceof IsthmusError) return true;
  return error instanceof ProtocolError && isJsonObject(error.data) && 'reason' in error.data;
}

const NOT_THERE: ReadonlySet<number> = new Set([
  ErrorCode.InvalidParams,
  ErrorCode.LegacyResourceNotFound,
  ErrorCode.MethodNotFound,
]);
const MAX_BYTES = 32 * 1024 * 1024;

/** The lists that name resources. */
export type ResourceListKind = 'resources' | 'templates';

/** The resources that the lists and reads of one principal have shown, with their servers. */
export class ResourceBook {
  /** By server and list: each URI, and whether the list that is read now has shown it again. */
  readonly #lists = new Map<string, Map<string, boolean>>();
  /** By URI: the server that answered a read, where no list names the URI. */
  readonly #reads = new Map<string, string>();
  /** The approximate size in bytes. */
  size = 0;

  /** Records a page of a list. The first page starts the list again. URIs that are missing after the last page are removed. */
  learnPage(server: string, kind: ResourceListKind, uris: readonly string[], page: PagePosition): void {
    const key = keyOf(server, kind);
    const list = this.#lists.get(key) ?? new Map<string, boolean>();
    this.#lists.set(key, list);
    if (page.isFirst) for (const uri of list.keys()) list.set(uri, false);
    for (const uri of uris) {
      if (uri.length > MAX_URI) continue;
      if (!list.has(uri)) this.size += costOf(uri);
      list.set(uri, true);
    }
    if (!page.isLast) return;
    for (const [uri, isFresh] of list) {
      if (isFresh) continue;
      list.delete(uri);
      this.size -= costOf(uri);
    }
  }

  learnRead(uri: string, server: string): void {
    if (uri.length > MAX_URI) return;
    if (!this.#reads.has(uri)) this.size += costOf(uri);
    this.#reads.set(uri, server);
  }

  forgetRead(uri: string): void {
    if (this.#reads.delete(uri)) this.size -= costOf(uri);
  }

  isListed(uri: string, server: string): boolean {
    return KINDS.some((kind) => this.#lists.get(keyOf(server, kind))?.has(uri) === true);
  }

  readAt(uri: string): string | undefined {
    return this.#reads.get(uri);
  }

  forgetServer(server: string): void {
    for (const kind of KINDS) {
      for (const uri of this.#lists.get(keyOf(server, kind))?.keys() ?? []) this.size -= costOf(uri);
      this.#lists.delete(keyOf(server, kind));
    }
    for (const [uri, owner] of this.#reads) if (owner === server) this.forgetRead(uri);
  }

  clear(): void {
    this.#lists.clear();
    this.#reads.clear();
    this.size = 0;
  }
}

export interface PagePosition {
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

function keyOf(server: string, kind: ResourceListKind): string {
  return `${kind} ${server}`;
}

function costOf(uri: string): number {
  return 2 * uri.length + ENTRY_BYTES;
}

const KINDS: readonly ResourceListKind[] = ['resources', 'templates'];
/** Longer URIs are not recorded. They are looked for at the servers in order. */
const MAX_URI = 8192;
const ENTRY_BYTES = 64;
