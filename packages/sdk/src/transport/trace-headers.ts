import { type Decoded, type DecodedMessage, isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** The position of a call in a trace (https://www.w3.org/TR/trace-context/). */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

/** Undefined for a value that breaks the rules; the standard says to ignore it. */
export function readTraceParent(text: unknown): TraceParent | undefined {
  const parts = typeof text === 'string' ? TRACEPARENT.exec(text) : null;
  if (!parts) return undefined;
  const [, version, traceId, spanId, flags, more] = parts;
  // Version 00 has no further fields, later versions may, and ff is invalid.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId!) || /^0+$/.test(spanId!)) return undefined;
  return { traceId: traceId!, spanId: spanId!, flags: Number.parseInt(flags!, 16) };
}

/**
 * Copies the trace headers of a POST into `_meta` of its message. A trace that the request names itself wins: the sender
 * wrote the body, and a proxy may have written the headers.
 */
export function withTraceOf(message: Decoded, headers: HeaderSource): Decoded {
  const traceparent = headers.header('traceparent')?.trim();
  if (traceparent === undefined || !readTraceParent(traceparent)) return message;
  const found: JsonObject = { traceparent };
  for (const name of COMPANIONS) {
    const value = headers.header(name);
    if (value !== undefined && value !== '') found[name] = value;
  }
  if (message.kind === 'batch') return { ...message, items: message.items.map((item) => adopt(item, found)) };
  return adopt(message, found);
}

interface HeaderSource {
  header(name: string): string | undefined;
}

/** The trace of a request as headers, for proxies that do not read its body. */
export function traceHeaders(params: JsonObject | undefined): Record<string, string> | undefined {
  const meta = params?.['_meta'];
  if (!isJsonObject(meta) || typeof meta['traceparent'] !== 'string') return undefined;
  if (!readTraceParent(meta['traceparent'])) return undefined;
  const headers: Record<string, string> = { traceparent: meta['traceparent'] };
  for (const name of COMPANIONS) {
    const value = meta[name];
    // A value that a header cannot hold is sent in the body only.
    if (typeof value === 'string' && value.length <= MAX_CHARS && PRINTABLE.test(value))
      headers[name] = value;
  }
  return headers;
}

function adopt<T extends DecodedMessage>(message: T, found: JsonObject): T {
  if (message.kind !== 'request') return message;
  const { params } = message;
  const meta = params?.['_meta'];
  if (meta !== undefined && (!isJsonObject(meta) || meta['traceparent'] !== undefined)) return message;
  return { ...message, params: { ...params, _meta: { ...found, ...meta } } };
}

const COMPANIONS = ['tracestate', 'baggage'] as const;
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const PRINTABLE = /^[\x20-\x7e]+$/;
const MAX_CHARS = 8192;
