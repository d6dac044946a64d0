import { IsthmusError, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AggregateMember } from './member.js';
import { type PagePosition, ResourceBook, type ResourceListKind } from './resource-book.js';

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
