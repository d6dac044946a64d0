import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import {
  isJsonObject,
  isRequestId,
  type JsonObject,
  type RequestId,
} from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { WireLine } from '../model.js';

/** One unit on the wire: a line, the data of an event, or a body. */
export interface Frame {
  readonly from: 'check' | 'server';
  readonly atMs: number;
  readonly text: string;
  /** `undefined` if the text is not JSON. */
  readonly json: unknown;
  /** What it claims to be. A `batch` is an array; `other` is not a message. */
  readonly kind: 'request' | 'notification' | 'result' | 'error' | 'batch' | 'other';
  readonly id: RequestId | undefined;
  readonly method: string | undefined;
  /** The HTTP exchange of the frame. */
  readonly exchange?: string | undefined;
  /** The frame is the data of an event. */
  readonly isEvent?: boolean;
}

/** Whether a frame is a result or an error. */
export function isAnswer(frame: Pick<Frame, 'kind'>): boolean {
  return frame.kind === 'result' || frame.kind === 'error';
}

/** Everything on one connection, in order, and a way to wait for more. */
export interface WireTranscript {
  /** For reports: `stdio, modern`. */
  readonly label: string;
  readonly frames: readonly Frame[];
  readonly lines: readonly WireLine[];
  add(from: Frame['from'], text: string, exchange?: string, isEvent?: boolean): Frame;
  /** Adds a line that is not a frame, such as a status or an exit. */
  note(text: string): void;
  /**
   * The first matching frame of the server, past (after the first `from` frames) or future. Undefined when the time is up
   * or the connection ends.
   */
  waitFor(match: (frame: Frame) => boolean, ms: number, from?: number): Promise<Frame | undefined>;
  /** The stream of the server began with a byte order mark. */
  hasByteOrderMark: boolean;
  /** Marks the end: no more frames will come. */
  end(): void;
  readonly hasEnded: boolean;
  readonly ended: Promise<void>;
}

export function createTranscript(label: string, clock: Clock): WireTranscript {
  const began = clock.now();
  const frames: Frame[] = [];
  const lines: WireLine[] = [];
  const waiting = new Set<{ match: (frame: Frame) => boolean; settle: (frame?: Frame) => void }>();
  let hasEnded = false;
  let sayEnded = () => {};
  const ended = new Promise<void>((resolve) => {
    sayEnded = resolve;
  });
  const since = () => clock.now() - began;
  const kept = { answers: 0, others: 0 };
  let isFull = false;
  const count = (frame: Frame, sign: 1 | -1) => {
    kept[shelfOf(frame)] += sign * (frame.text.length + FRAME_COST);
  };
  const keep = (frame: Frame) => {
    count(frame, 1);
    frames.push(frame);
    lines.push({ from: frame.from, atMs: frame.atMs, text: frame.text });
  };
  const forgetLast = (frame: Frame) => {
    count(frame, -1);
    frames.pop();
    lines.pop();
  };
  /** A server must not fill the memory (S11): beyond the limit, only frames with a waiter are kept. */
  const hasRoomFor = (frame: Frame): boolean => {
    const shelf = shelfOf(frame);
    if (kept[shelf] < MAX_KEPT[shelf]) return true;
    if (!isFull) lines.push({ from: 'note', atMs: since(), text: FULL });
    isFull = true;
    return false;
  };
  return {
    label,
    frames,
    lines,
    get hasEnded() {
      return hasEnded;
    },
    ended,
    hasByteOrderMark: false,
    add(from, text, exchange, isEvent) {
      const frame = toFrame(from, text, since(), exchange, isEvent);
      const hasPlace = hasRoomFor(frame);
      // A waiter may look for the index of the frame, so it is added first.
      keep(frame);
      let isAwaited = from === 'check';
      if (from === 'server') {
        for (const waiter of [...waiting]) {
          if (!waiter.match(frame)) continue;
          isAwaited = true;
          waiter.settle(frame);
        }
      }
      if (!hasPlace && !isAwaited) forgetLast(frame);
      return frame;
    },
    note(text) {
      lines.push({ from: 'note', atMs: since(), text });
    },
    waitFor(match, ms, from = 0) {
      const found = frames.find((frame, index) => index >= from && frame.from === 'server' && match(frame));
      if (found || hasEnded) return Promise.resolve(found);
      return new Promise((resolve) => {
        const waiter = {
          match,
          settle(frame?: Frame) {
            waiting.delete(waiter);
            callOff();
            resolve(frame);
          },
        };
        // After a busy phase, late timers fire before input that has already arrived. Two turns let the input come first.
        const callOff = clock.after(ms, () => setImmediate(() => setImmediate(() => waiter.settle())));
        waiting.add(waiter);
      });
    },
    end() {
      if (hasEnded) return;
      hasEnded = true;
      for (const waiter of [...waiting]) waiter.settle();
      sayEnded();
    },
  };
}

/** Answers have their own limit: some checks request megabytes of answers. */
function shelfOf({ kind }: Frame): 'answers' | 'others' {
  return kind === 'result' || kind === 'error' || kind === 'batch' ? 'answers' : 'others';
}

/** In characters, with an estimated overhead for each frame. */
const MAX_KEPT = { answers: 16 * 1024 * 1024, others: 2 * 1024 * 1024 };
const FRAME_COST = 400;
const FULL = 'the server has sent too much: from here on, only awaited messages are recorded';

function toFrame(
  from: Frame['from'],
  text: string,
  atMs: number,
  exchange: string | undefined,
  isEvent = false,
): Frame {
  const json = parse(text);
  const object = isJsonObject(json) ? json : {};
  const id = object['id'];
  const method = object['method'];
  return {
    from,
    atMs,
    text,
    json,
    kind: kindOf(json),
    id: isRequestId(id) ? id : undefined,
    method: typeof method === 'string' ? method : undefined,
    ...(exchange !== undefined && { exchange }),
    ...(isEvent && { isEvent }),
  };
}

function kindOf(json: unknown): Frame['kind'] {
  if (Array.isArray(json)) return 'batch';
  if (!isJsonObject(json)) return 'other';
  if (typeof json['method'] === 'string') return json['id'] === undefined ? 'notification' : 'request';
  if (json['result'] !== undefined) return 'result';
  return json['error'] === undefined ? 'other' : 'error';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The members of a frame; none if it is not an object. */
export function membersOf(frame: Frame): JsonObject {
  return isJsonObject(frame.json) ? frame.json : {};
}

export function paramsOf(frame: Frame): JsonObject {
  const params = membersOf(frame)['params'];
  return isJsonObject(params) ? params : {};
}
