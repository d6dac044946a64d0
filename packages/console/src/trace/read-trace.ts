import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CallRow, ConnectionView, FrameKind } from '../contract.js';
import type { Connections } from '../frames/connections.js';
import { type FrameRing, KINDS } from '../frames/ring.js';
import type { TraceFrame, TraceHead } from './trace-line.js';

/** A file that cannot be used, with the place of the problem. */
export class TraceError extends Error {
  override readonly name = 'TraceError';
}

export interface ReadTrace {
  readonly head: TraceHead;
  readonly calls: readonly CallRow[];
  /** Lines that were left out because they are not valid. */
  readonly skipped: number;
}

/**
 * Reads a trace file into a ring. Anybody may have written it: each line is checked, sizes are bounded, and nothing in it
 * is ever sent or started. Of more frames than the ring holds, the last ones are kept.
 */
export async function readTrace(path: string, ring: FrameRing, connections: Connections): Promise<ReadTrace> {
  const { size } = await stat(path);
  if (size > MAX_FILE_BYTES)
    throw new TraceError(`${path} has ${size} bytes, and at most ${MAX_FILE_BYTES} can be read`);
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  let head: TraceHead | undefined;
  const calls = new Map<number, CallRow>();
  const views = new Map<number, ConnectionView>();
  /** The numbers of the file and those of the ring. */
  const numbers = new Map<number, number>();
  let skipped = 0;
  for await (const line of lines) {
    if (line.trim() === '') continue;
    const value = parse(line);
    if (!head) {
      head = readHead(value, path);
      continue;
    }
    if (!isJsonObject(value)) skipped += 1;
    else if (isJsonObject(value['connection'])) take(views, value['connection']);
    else if (isJsonObject(value['call'])) take(calls, value['call']);
    else if (!addFrame(value, ring, numbers)) skipped += 1;
  }
  if (!head) throw new TraceError(`${path} is empty`);
  for (const view of views.values()) connections.restore(restored(view, numbers));
  return { head, calls: [...calls.values()], skipped };
}

const MAX_FILE_BYTES = 256 * 1024 * 1024;

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function readHead(value: unknown, path: string): TraceHead {
  if (!isJsonObject(value) || value['trace'] === undefined)
    throw new TraceError(`${path} is not a trace file`);
  if (value['trace'] !== 1) {
    const version = JSON.stringify(value['trace'])?.slice(0, 20);
    throw new TraceError(
      `${path} is a trace file of version ${version}, and this isthmus reads version 1: use a newer one`,
    );
  }
  const target = isJsonObject(value['target']) ? value['target'] : {};
  return {
    trace: 1,
    isthmus: textOf(value['isthmus']),
    savedAt: textOf(value['savedAt']),
    began: numberOf(value['began']) ?? 0,
    target: { label: textOf(target['label']), kind: 'trace' },
    redacted: value['redacted'] === true,
  };
}

/** Of entries with an id, the last one counts. */
function take<T>(entries: Map<number, T>, value: JsonObject): void {
  const id = numberOf(value['id']);
  if (id !== undefined && entries.size < MAX_ENTRIES) entries.set(id, value as T);
}

const MAX_ENTRIES = 10_000;

/** The pages expect these members, whatever the file says. */
function restored(view: ConnectionView, numbers: ReadonlyMap<number, number>): ConnectionView {
  const frames: readonly unknown[] = Array.isArray(view.frames) ? view.frames : [];
  const renumbered = (frame: unknown) => numbers.get(frame as number) ?? 0;
  const verdict = isJsonObject(view.verdict) && Array.isArray(view.verdict.steps) ? view.verdict : undefined;
  const { verdict: _, ...rest } = view;
  return {
    ...rest,
    side: view.side === 'client' ? 'client' : 'upstream',
    state: 'ended',
    label: textOf(view.label),
    lens: view.lens === true,
    warnings: Array.isArray(view.warnings) ? view.warnings : [],
    frames: [renumbered(frames[0]), renumbered(frames[1])],
    ...(verdict && {
      verdict: {
        ...verdict,
        steps: verdict.steps.map((step) => ({
          say: textOf(step?.say),
          frames: (Array.isArray(step?.frames) ? step.frames : []).map(renumbered).filter((seq) => seq > 0),
        })),
      },
    }),
  };
}

function addFrame(value: JsonObject, ring: FrameRing, numbers: Map<number, number>): boolean {
  const frame = value as Partial<TraceFrame>;
  const { kind, direction, text, base64 } = frame;
  const isKnown =
    KINDS.includes(kind as FrameKind) && (direction === 'to-server' || direction === 'to-client');
  const data = typeof base64 === 'string' ? Buffer.from(base64, 'base64') : textOf(text);
  const seq = numberOf(frame.seq);
  if (!isKnown || seq === undefined) return false;
  const kept = ring.add({
    at: numberOf(frame.at) ?? 0,
    connection: numberOf(frame.connection) ?? 0,
    ...{ direction: direction!, kind: kind!, data },
    method: optionalText(frame.method),
    about: optionalText(frame.about),
    id: typeof frame.id === 'string' || typeof frame.id === 'number' ? frame.id : undefined,
    call: numberOf(frame.call),
    took: numberOf(frame.took),
    answers: numbers.get(frame.answers ?? 0),
    failed: frame.failed === true,
    redacted: frame.redacted === true,
    byHand: frame.byHand === true,
    bytes: numberOf(frame.bytes),
    http: readHttp(frame.http),
    process: isJsonObject(frame.process) ? frame.process : undefined,
    problem: optionalText(frame.problem),
  });
  numbers.set(seq, kept.seq);
  return true;
}

function readHttp(http: unknown): TraceFrame['http'] {
  if (!isJsonObject(http)) return undefined;
  const headers = Array.isArray(http['headers']) ? http['headers'] : [];
  const pairs = headers.filter((each): each is [string, string] => Array.isArray(each) && each.length === 2);
  return {
    ...(typeof http['method'] === 'string' && { method: http['method'] }),
    ...(typeof http['path'] === 'string' && { path: http['path'] }),
    ...(typeof http['status'] === 'number' && { status: http['status'] }),
    ...(typeof http['event'] === 'string' && { event: http['event'] }),
    headers: pairs.map(([name, value]) => [String(name), String(value)]),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
