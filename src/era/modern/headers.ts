import type { HeaderParam } from '../../exchange/call.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';

export type { HeaderParam };

/** `Mcp-Name` of a request; undefined for methods that have none. */
export function routingName(method: string, params: JsonObject | undefined): string | undefined {
  const value =
    method === 'resources/read'
      ? params?.['uri']
      : method === 'tools/call' || method === 'prompts/get'
        ? params?.['name']
        : undefined;
  return typeof value === 'string' ? value : undefined;
}

export function encodeHeaderValue(value: string | number | boolean): string {
  const text = String(value);
  const plain = /^[\x20-\x7e]*$/.test(text) && text.trim() === text && !SENTINEL.test(text);
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

export function decodeHeaderValue(
  text: string,
): { readonly kind: 'value'; readonly value: string } | { readonly kind: 'undecodable' } {
  const trimmed = text.replace(/^[ \t]+|[ \t]+$/g, '');
  const encoded = SENTINEL.exec(trimmed)?.[1];
  if (encoded === undefined) return { kind: 'value', value: trimmed };
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return { kind: 'undecodable' };
  try {
    return { kind: 'value', value: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { kind: 'undecodable' };
  }
}

const SENTINEL = /^=\?base64\?(.*)\?=$/s;

export function readHeaderParams(
  inputSchema: unknown,
):
  | { readonly kind: 'valid'; readonly params: readonly HeaderParam[] }
  | { readonly kind: 'invalid'; readonly why: string } {
  return isJsonObject(inputSchema) ? { kind: 'valid', params: [] } : { kind: 'valid', params: [] };
}

export function headerParamValue(param: HeaderParam, args: unknown): string | number | boolean | undefined {
  let value: unknown = args;
  for (const step of param.path) value = isJsonObject(value) ? value[step] : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined;
}

export function headerMatches(param: HeaderParam, value: string | number | boolean, header: string): boolean {
  const decoded = decodeHeaderValue(header);
  if (decoded.kind === 'undecodable') return false;
  return param.type === 'integer' ? Number(decoded.value) === value : decoded.value === String(value);
}
