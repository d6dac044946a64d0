import { ProtocolError } from '../errors.js';
import { nearMiss } from '../near-miss.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { ContentBlock } from '../wire/model.js';

/** Checks type and members, since plain data may have a member `type`, too. */
export function isBlock(value: unknown): value is ContentBlock {
  if (!isJsonObject(value)) return false;
  switch (value['type']) {
    case 'text':
      return typeof value['text'] === 'string';
    case 'image':
    case 'audio':
      return typeof value['data'] === 'string' && typeof value['mimeType'] === 'string';
    case 'resource':
      return isJsonObject(value['resource']) && typeof value['resource']['uri'] === 'string';
    case 'resource_link':
      return typeof value['uri'] === 'string' && typeof value['name'] === 'string';
    default:
      return false;
  }
}

/** What keeps a value from being a content block, for errors. */
export function blockFlaw(value: unknown): string | undefined {
  if (isBlock(value)) return undefined;
  if (!isJsonObject(value)) return 'is not an object';
  const { type } = value;
  const needed = typeof type === 'string' && Object.hasOwn(NEEDED, type) ? NEEDED[type] : undefined;
  if (needed !== undefined) return `has the type "${type}" and needs ${needed}`;
  const meant = typeof type === 'string' ? nearMiss(type, BLOCK_TYPES) : undefined;
  const advice = meant === undefined ? `known are ${BLOCK_TYPES.join(', ')}` : `did you mean "${meant}"?`;
  return `has the unknown type ${JSON.stringify(type)}; ${advice}`;
}

const NEEDED: Readonly<Record<string, string>> = {
  text: 'text',
  image: 'data and mimeType',
  audio: 'data and mimeType',
  resource: 'a resource with a uri',
  resource_link: 'uri and name',
};

const BLOCK_TYPES = Object.keys(NEEDED);

/** Throws if an object is meant as a result, and one of its blocks is wrong. It would be sent as data otherwise. */
export function refuseContent(result: JsonObject, content: readonly unknown[], tool: string): void {
  if (!Object.keys(result).every((key) => RESULT_MEMBERS.has(key))) return;
  if (!content.every((each) => isJsonObject(each) && typeof each['type'] === 'string')) return;
  const at = content.findIndex((each) => !isBlock(each));
  throw badContent(tool, `content[${at}] ${blockFlaw(content[at])}`);
}

/** An object with these members only is meant as a result. */
const RESULT_MEMBERS: ReadonlySet<string> = new Set(['content', 'structuredContent', 'isError', '_meta']);

/** Throws for a block whose type has one typing error. Other data with a member `type` stays data. */
export function refuseMisspelledBlock(value: unknown, tool: string): void {
  const block = Array.isArray(value) ? value.find((each) => !isBlock(each)) : value;
  if (!isJsonObject(block) || typeof block['type'] !== 'string') return;
  const meant = nearMiss(block['type'], BLOCK_TYPES);
  if (meant === undefined || !isBlock({ ...block, type: meant })) return;
  throw badContent(tool, `a content block that ${blockFlaw(block)}`);
}

function badContent(tool: string, what: string): ProtocolError {
  const message = `Tool ${tool} returned ${what}. Return data of another form as { structuredContent }`;
  return new ProtocolError(ErrorCode.InternalError, message);
}
