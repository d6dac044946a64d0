import { IsthmusError, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AggregateMember } from './members.js';

/**
 * Which server a resource belongs to, for each principal apart: servers may show each of them something else. Of the
 * servers that list a URI the first of the configuration has it; a read decides only where no list does. URIs are not
 * renamed, since clients know them from elsewhere.
 */
export class ResourceOwners {
  readonly #books = new ByPrincipal(() => new ResourceBook());
  readonly #maxBytes: number;
  /** An upper bound of what all books take; counted anew when it is reached. */
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** What a server has listed for this principal. */
  learn(
    principal: string | undefined,
    part: AggregateMember,
    kind: ResourceListKind,
    uris: readonly string[],
    page: PagePosition,
  ): void {
    this.#change(principal, (book) => book.learnPage(part.name, kind, uris, page));
  }

  forget(part: AggregateMember): void {
    for (const book of this.#books.values()) book.forgetServer(part.name);
  }

  /** The servers to ask for it: the one that has it, or all of them where that is not known. */
  among(
    principal: string | undefined,
    uri: unknown,
    parts: readonly AggregateMember[],
  ): readonly AggregateMember[] {
    const book = this.#books.get(principal);
    if (!book || typeof uri !== 'string') return parts;
    const readAt = book.readAt(uri);
    const owner =
      parts.find(({ name }) => book.isListed(uri, name)) ?? parts.find(({ name }) => name === readAt);
    return owner ? [owner] : parts;
  }

  /** Asks the server that has it; where that is not known, one after the other until one has it. */
  async ask<T>(
    principal: string | undefined,
    uri: unknown,
    parts: readonly AggregateMember[],
    action: (part: AggregateMember) => Promise<T>,
  ): Promise<T> {
    let refusal: unknown;
    let away: unknown;
    const [first, ...more] = this.among(principal, uri, parts);
    // A read proves less than a list: the others are asked, too, where it is not there any more.
    const wasRead = first && this.#isReadAt(principal, uri, first);
    const turns = wasRead
      ? [first, ...parts.filter((part) => part !== first)]
      : first
        ? [first, ...more]
        : [];
    for (const part of turns) {
      try {
        const result = await action(part);
        // While an earlier server is away, nobody knows whether it has it.
        if (away === undefined) this.#learnRead(principal, uri, part);
        return result;
      } catch (error) {
        if (isAway(error)) {
          if (wasRead && part === first) throw error;
          away ??= error;
        } else if (isNotThere(error)) {
          refusal ??= error;
          if (typeof uri === 'string') this.#books.get(principal)?.forgetRead(uri);
        } else throw error;
      }
    }
    const nobody = new ProtocolError(ErrorCode.InvalidParams, `No server has ${String(uri)}`, { uri });
    throw refusal ?? away ?? nobody;
  }

  #learnRead(principal: string | undefined, uri: unknown, part: AggregateMember): void {
    if (typeof uri !== 'string') return;
    this.#change(principal, (book) => {
      if (!book.isListed(uri, part.name)) book.learnRead(uri, part.name);
    });
  }

  #isReadAt(principal: string | undefined, uri: unknown, part: AggregateMember): boolean {
    const book = this.#books.get(principal);
    if (!book || typeof uri !== 'string' || book.isListed(uri, part.name)) return false;
    return book.readAt(uri) === part.name;
  }

  #change(principal: string | undefined, change: (book: ResourceBook) => void): void {
    const book = this.#books.of(principal);
    const before = book.size;
    change(book);
    this.#bytes += book.size - before;
    if (this.#bytes > this.#maxBytes) this.#makeRoom();
  }

  /** Whoever has most is forgotten first, so that one principal cannot push out the others. */
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

/** This server does not have it; another may. */
function isNotThere(error: unknown): boolean {
  return error instanceof ProtocolError && NOT_THERE.has(error.code);
}

/** It cannot be asked at the moment. The bridge says why where it was not the server that answered. */
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

/** The lists that say where resources are. */
export type ResourceListKind = 'resources' | 'templates';

/** Where one principal's resources are, as far as its own lists and reads have shown. */
export class ResourceBook {
  /** By server and list: each URI, and whether the list that is being read now has shown it again. */
  readonly #lists = new Map<string, Map<string, boolean>>();
  /** By URI: the server that answered a read, where no list names one. */
  readonly #reads = new Map<string, string>();
  /** What all this takes, in bytes, about. */
  size = 0;

  /** A page of a list. The first page begins the list anew; what the last page has not shown again is gone. */
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
/** Longer ones are not remembered, and looked for in the order of the servers. */
const MAX_URI = 8192;
const ENTRY_BYTES = 64;
