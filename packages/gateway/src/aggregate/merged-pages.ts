import { messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { ABSENT, type Absent, type AggregateMember } from './member.js';
import type { PagePosition } from './resource-book.js';

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
