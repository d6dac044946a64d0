import { ProtocolError } from '../../errors.js';
import type { Call } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import { Context } from '../context.js';
import type { Registry } from '../registry.js';
import type { ListedResource, RegisteredResource, RegisteredTemplate, TemplateListing } from './resources.js';

/** One page of `resources/list`: the registered resources first, then those that templates list. */
export async function listResources(
  resources: Registry<RegisteredResource>,
  templates: Registry<RegisteredTemplate>,
  call: Call,
  pageSize: number,
): Promise<{ readonly resources: object[]; readonly nextCursor?: string }> {
  const { cursor } = call.params;
  const lists = templates.all().filter(({ list }) => list !== undefined);
  const from = readCursor(cursor);
  const own = from ? { items: [] } : resources.page(cursor);
  const page: object[] = own.items.map(({ listed }) => listed);
  if (own.nextCursor !== undefined) return { resources: page, nextCursor: own.nextCursor };
  let at = from ? lists.findIndex(({ listed }) => listed.uriTemplate === from.uriTemplate) : 0;
  if (at < 0) throw unknownCursor();
  let inner = from?.inner;
  for (; at < lists.length; at += 1) {
    const template = lists[at]!;
    // A page that is full ends before the next template.
    if (page.length >= pageSize) return { resources: page, nextCursor: writeCursor(template) };
    const listing = toListing(await template.list!(new Context(call), inner));
    for (const each of listing.resources) page.push(toListed(template, each));
    inner = undefined;
    if (listing.nextCursor !== undefined) {
      return { resources: page, nextCursor: writeCursor(template, listing.nextCursor) };
    }
  }
  return { resources: page };
}

function toListing(listing: TemplateListing): Exclude<TemplateListing, readonly ListedResource[]> {
  return isList(listing) ? { resources: listing } : listing;
}

/** `Array.isArray` does not narrow readonly arrays. */
function isList(listing: TemplateListing): listing is readonly ListedResource[] {
  return Array.isArray(listing);
}

function toListed({ listed }: RegisteredTemplate, resource: ListedResource): JsonObject {
  if (typeof resource?.uri !== 'string') {
    throw new TypeError(`The list of resource template ${listed.uriTemplate} has an entry without a uri`);
  }
  const { name, mimeType } = listed;
  return { name, ...(mimeType !== undefined && { mimeType }), ...resource };
}

function writeCursor({ listed }: RegisteredTemplate, inner?: string): string {
  const text = JSON.stringify(inner === undefined ? [listed.uriTemplate] : [listed.uriTemplate, inner]);
  return Buffer.from(PREFIX + text).toString('base64url');
}

/** Undefined: a cursor of the registered resources, or none. */
function readCursor(cursor: unknown): { uriTemplate: string; inner: string | undefined } | undefined {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  if (!text.startsWith(PREFIX)) return undefined;
  try {
    const [uriTemplate, inner] = JSON.parse(text.slice(PREFIX.length)) as [string, string | undefined];
    return { uriTemplate, inner };
  } catch {
    throw unknownCursor();
  }
}

const PREFIX = 'list of template:';

/** PAGE-006 */
function unknownCursor(): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, 'Unknown cursor for the list of resources');
}
