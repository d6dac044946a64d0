import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Bytes, CallDetail, Lens } from '../contract.js';
import { framesOfCall } from '../frames/frame-views.js';
import { type KeptFrame, KINDS } from '../frames/ring.js';
import { notFound } from '../http/console-error.js';
import { rawMember } from '../json/raw-members.js';
import { buildLens, type LensSource } from '../lens/build-lens.js';
import type { CallEntry } from '../stores/call-store.js';
import type { ConsoleRecords } from './console-records.js';

/** All that is known of a call. What is not kept with it is taken from its frames. */
export function callDetail(records: ConsoleRecords, entry: CallEntry): CallDetail {
  const { row, progressed, logs, questions, error, structured } = entry;
  const frames = framesOfCall(records.ring, row.id);
  const params = entry.params ?? textIn(records, frames.find(isKind('request')), 'params');
  const result = resultOf(records, entry, frames);
  return {
    ...row,
    ...{ progressed, logs, questions },
    frames: frames.map(({ seq }) => seq),
    ...(params !== undefined && { params }),
    ...(result !== undefined && {
      result: result.length > MAX_RESULT ? result.slice(0, MAX_RESULT) : result,
      resultBytes: Buffer.byteLength(result),
    }),
    ...(error && { error }),
    ...(structured && { structured }),
  };
}

const MAX_RESULT = 1024 * 1024;

/** The bytes of one content block: base64 decoded, or its text. */
export function contentOf(records: ConsoleRecords, entry: CallEntry, index: number): Bytes {
  const text = resultOf(records, entry, framesOfCall(records.ring, entry.row.id));
  const result: unknown = text === undefined ? undefined : parse(text);
  const blocks = isJsonObject(result)
    ? (result['content'] ?? result['contents'] ?? messagesOf(result))
    : undefined;
  const block: unknown = Array.isArray(blocks) ? blocks[index] : undefined;
  if (!isJsonObject(block)) throw notFound(`Call ${entry.row.id} has no content ${index}`);
  const inner = isJsonObject(block['resource']) ? block['resource'] : block;
  const base64 = inner['data'] ?? inner['blob'];
  const bytes =
    typeof base64 === 'string' ? Buffer.from(base64, 'base64') : Buffer.from(String(inner['text'] ?? ''));
  return { bytes, type: 'application/octet-stream', file: `call-${entry.row.id}-${index}` };
}

/** The blocks of the messages of a prompt. */
function messagesOf({ messages }: Readonly<Record<string, unknown>>): unknown {
  return Array.isArray(messages)
    ? messages.map((each) => (isJsonObject(each) ? each['content'] : each))
    : undefined;
}

export function lensOf(records: ConsoleRecords, call: number): Lens {
  const sources = framesOfCall(records.ring, call).flatMap((frame): LensSource[] => {
    const connection = records.connections.get(frame.connection);
    if (!connection) return [];
    const method = records.ring.names.textOf(frame.method);
    return [
      {
        ...{ seq: frame.seq, at: frame.at, connection, kind: KINDS[frame.kind]! },
        direction: frame.direction === 0 ? 'to-server' : 'to-client',
        method: method === '' ? undefined : method,
        id: frame.id,
        message: parse(records.ring.dataOf(frame).toString()),
      },
    ];
  });
  const questions = records.calls.get(call)?.questions ?? [];
  return buildLens(call, sources, { questions, began: records.began });
}

function resultOf(
  records: ConsoleRecords,
  entry: CallEntry,
  frames: readonly KeptFrame[],
): string | undefined {
  return entry.result ?? textIn(records, frames.findLast(isKind('result')), 'result');
}

function isKind(kind: string): (frame: KeptFrame) => boolean {
  return (frame) => KINDS[frame.kind] === kind;
}

function textIn(records: ConsoleRecords, frame: KeptFrame | undefined, name: string): string | undefined {
  if (!frame || (frame.flags & 2) !== 0) return undefined;
  return rawMember(records.ring.dataOf(frame).toString(), name);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
