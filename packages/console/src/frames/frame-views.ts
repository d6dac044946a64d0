import { isUtf8 } from 'node:buffer';
import type { FramesPage, FramesQuery, FrameView } from '../contract.js';
import type { Connections } from './connections.js';
import { type FrameRing, GIST_KINDS, type KeptFrame, KINDS, rowOf } from './ring.js';

/** One frame with its text. `began`: when the ring began, in milliseconds since 1970. */
export function viewFrame(
  ring: FrameRing,
  connections: Connections,
  frame: KeptFrame,
  began: number,
): FrameView {
  const data = ring.dataOf(frame);
  const { http, process, problem } = frame.more ?? {};
  const method = ring.names.textOf(frame.method);
  const kind = KINDS[frame.kind]!;
  const about = GIST_KINDS.has(kind) ? '' : ring.names.textOf(frame.about);
  const other = otherSides(ring, connections, frame);
  return {
    seq: frame.seq,
    at: began + frame.at,
    connection: frame.connection,
    direction: frame.direction === 0 ? 'to-server' : 'to-client',
    kind,
    bytes: frame.bytes,
    text: data.toString(),
    redacted: (frame.flags & 4) !== 0,
    ...(method !== '' && { method }),
    ...(about !== '' && { about }),
    ...(frame.id !== undefined && { id: frame.id }),
    ...(!isUtf8(data) && { base64: data.toString('base64') }),
    ...((frame.flags & 2) !== 0 && { cut: frame.bytes - data.length }),
    ...(http && { http }),
    ...(process && { process }),
    ...(problem !== undefined && { problem }),
    ...(frame.call !== 0 && { call: frame.call }),
    ...(frame.answers !== 0 && { answers: frame.answers }),
    ...(frame.answeredBy !== 0 && { answeredBy: frame.answeredBy }),
    ...(other.length > 0 && { other }),
  };
}

/** The frames of the same call, kind and direction on the other side of a bridge. */
function otherSides(ring: FrameRing, connections: Connections, frame: KeptFrame): number[] {
  if (frame.call === 0) return [];
  const side = connections.get(frame.connection)?.side;
  return framesOfCall(ring, frame.call)
    .filter((each) => each.direction === frame.direction && each.kind === frame.kind)
    .filter((each) => connections.get(each.connection)?.side !== side)
    .map(({ seq }) => seq);
}

/** All frames of a call, in order. */
export function framesOfCall(ring: FrameRing, call: number): KeptFrame[] {
  const found: KeptFrame[] = [];
  for (let seq = ring.first; seq > 0 && seq <= ring.last; seq += 1) {
    const frame = ring.get(seq)!;
    if (frame.call === call) found.push(frame);
  }
  return found;
}

/** The rows that a query selects. Searching bodies stops after a while, and says where. */
export function findFrames(ring: FrameRing, query: FramesQuery, now = () => performance.now()): FramesPage {
  const { after = 0, before = Number.POSITIVE_INFINITY, limit = MAX_ROWS } = query;
  const wanted = matcherOf(ring, query);
  const until = now() + SEARCH_MS;
  const found: KeptFrame[] = [];
  const first = ring.first;
  const end = Math.min(ring.last, before - 1);
  let seq = Math.max(after + 1, first === 0 ? 1 : first);
  let searched = Math.max(after, 0);
  for (; seq <= end && found.length < limit; seq += 1) {
    const frame = ring.get(seq)!;
    if (wanted(frame)) found.push(frame);
    searched = seq;
    // The clock is read now and then: it costs more than a comparison.
    if (query.find !== undefined && seq % 64 === 0 && now() > until) break;
  }
  if (seq > end) searched = Math.max(searched, end);
  return { names: namesOf(ring, found), rows: found.map(rowOf), first, last: ring.last, searched };
}

const MAX_ROWS = 2000;
const SEARCH_MS = 50;

export function namesOf(ring: FrameRing, frames: readonly KeptFrame[]): [number, string][] {
  const numbers = new Set(frames.flatMap(({ method, about }) => [method, about]));
  numbers.delete(0);
  return [...numbers].map((number) => [number, ring.names.textOf(number)]);
}

function matcherOf(ring: FrameRing, query: FramesQuery): (frame: KeptFrame) => boolean {
  const { connection, call, kind, method, direction, find } = query;
  const wantedKind = kind === undefined ? undefined : KINDS.indexOf(kind);
  const wantedDirection = direction === undefined ? undefined : direction === 'to-server' ? 0 : 1;
  const text = find?.toLowerCase();
  return (frame) =>
    (connection === undefined || frame.connection === connection) &&
    (call === undefined || frame.call === call) &&
    (wantedKind === undefined || frame.kind === wantedKind) &&
    (wantedDirection === undefined || frame.direction === wantedDirection) &&
    (method === undefined || ring.names.textOf(frame.method) === method) &&
    (text === undefined || ring.dataOf(frame).toString().toLowerCase().includes(text));
}
