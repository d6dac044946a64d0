import { SKILLS_EXTENSION } from '@isthmus/sdk/internal/era/extensions.js';
import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AggregateMember } from './members.js';

/**
 * The servers that may know a method which the core protocol does not define, the likeliest first: those that announce an
 * extension of this name (`com.example/trees` has `trees/…` and `com.example/trees/…`), then those that announce any.
 */
export function knowersOf(method: string, members: readonly AggregateMember[]): readonly AggregateMember[] {
  const rank = ({ service }: AggregateMember) => {
    const ids = Object.keys(service.capabilities().extensions ?? {});
    if (ids.some((id) => method.startsWith(`${id}/`) || method.startsWith(`${id.split('/').at(-1)}/`)))
      return 0;
    return ids.length > 0 ? 1 : 2;
  };
  const ranked = members.map((member) => ({ member, rank: rank(member) }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ member }) => member);
}

/** Asks one server after the other until one knows the method. A server that does not know it has done nothing. */
export async function askKnowers(
  method: string,
  members: readonly AggregateMember[],
  ask: (member: AggregateMember) => Promise<JsonObject>,
): Promise<JsonObject> {
  for (const member of knowersOf(method, members)) {
    try {
      return await ask(member);
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== ErrorCode.MethodNotFound) throw error;
    }
  }
  throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
}

export function hasSkills({ service }: AggregateMember): boolean {
  return service.capabilities().extensions?.[SKILLS_EXTENSION] !== undefined;
}

/** The `_meta` of several pages as one. Of two values with one key, the first. The name of each server is left out. */
export function jointMeta(pages: readonly JsonObject[]): JsonObject {
  const joint: JsonObject = {};
  for (const { _meta } of pages) {
    if (!isJsonObject(_meta)) continue;
    const { [META.serverInfo]: _info, ...own } = _meta;
    for (const [key, value] of Object.entries(own)) joint[key] ??= value;
  }
  return joint;
}
