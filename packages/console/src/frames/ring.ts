import type { FrameDirection, TappedHttp } from '@isthmus/sdk/internal/exchange/tap.js';
import type { RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { FrameKind, FrameRow, ProcessFacts, RowKind } from '../contract.js';
import { Arena, type Stored } from './arena.js';
import { NameTable } from './names.js';

/** A frame to be kept. */
export interface NewFrame {
  /** Milliseconds since the ring began. */
  readonly at: number;
  readonly connection: number;
  readonly direction: FrameDirection;
  readonly kind: FrameKind;
  readonly data: string | Buffer;
  readonly method?: string | undefined;
  readonly about?: string | undefined;
  readonly id?: RequestId | undefined;
  readonly call?: number | undefined;
  /** Of an answer: its request, and how long it took. */
  readonly answers?: number | undefined;
  readonly took?: number | undefined;
  readonly failed?: boolean | undefined;
  readonly redacted?: boolean | undefined;
  readonly byHand?: boolean | undefined;
  /** The length on the wire, where `data` is less. */
  readonly bytes?: number | undefined;
  readonly http?: TappedHttp | undefined;
  readonly process?: ProcessFacts | undefined;
  readonly problem?: string | undefined;
}

/** A frame in the ring. Its text is in the arena. */
export interface KeptFrame {
  readonly seq: number;
  readonly at: number;
  readonly connection: number;
  readonly direction: 0 | 1;
  readonly kind: RowKind;
  readonly method: number;
  readonly about: number;
  readonly id: RequestId | undefined;
  call: number;
  readonly bytes: number;
  readonly took: number;
  readonly flags: number;
  readonly stored: Stored;
  readonly answers: number;
  answeredBy: number;
  readonly more: Pick<NewFrame, 'http' | 'process' | 'problem'> | undefined;
}

export interface RingOptions {
  readonly maxFrames?: number;
  readonly maxBytes?: number;
  /** Longer frames are cut. Default: a quarter of `maxBytes`. */
  readonly maxFrameBytes?: number;
}

/** The last frames, bounded by their number and their bytes. The oldest are dropped. */
export class FrameRing {
  readonly names = new NameTable();
  readonly maxFrames: number;
  readonly maxBytes: number;
  readonly #maxFrameBytes: number;
  readonly #arena = new Arena();
  readonly #frames: KeptFrame[] = [];
  readonly #listeners = new Set<() => void>();
  #first = 1;
  #last = 0;

  constructor(options: RingOptions = {}) {
    this.maxFrames = options.maxFrames ?? 100_000;
    this.maxBytes = options.maxBytes ?? 64 * 1024 * 1024;
    this.#maxFrameBytes = options.maxFrameBytes ?? Math.floor(this.maxBytes / 4);
  }

  /** The oldest frame that is kept; 0 when there is none. */
  get first(): number {
    return this.#last < this.#first ? 0 : this.#first;
  }

  /** The newest frame; 0 when there was none. */
  get last(): number {
    return this.#last;
  }

  get bytes(): number {
    return this.#arena.size;
  }

  /** Keeps a frame. Returns it with its number. */
  add(frame: NewFrame): KeptFrame {
    const { data, http, process, problem } = frame;
    const stored = this.#arena.add(data, this.#maxFrameBytes);
    const bytes = frame.bytes ?? (typeof data === 'string' ? Buffer.byteLength(data) : data.length);
    this.#last += 1;
    const kept: KeptFrame = {
      seq: this.#last,
      at: frame.at,
      connection: frame.connection,
      direction: frame.direction === 'to-server' ? 0 : 1,
      kind: KINDS.indexOf(frame.kind) as RowKind,
      method: this.names.numberOf(frame.method),
      about: GIST_KINDS.has(frame.kind)
        ? this.names.gistOf(typeof data === 'string' ? data.slice(0, 400) : data.toString('utf8', 0, 400))
        : this.names.numberOf(frame.about),
      id: frame.id,
      call: frame.call ?? 0,
      bytes,
      took: frame.took ?? -1,
      flags: flagsOf(frame, stored.length < bytes),
      stored,
      answers: frame.answers ?? 0,
      answeredBy: 0,
      more: http || process || problem !== undefined ? { http, process, problem } : undefined,
    };
    this.#frames[(this.#last - 1) % this.maxFrames] = kept;
    const request = kept.answers === 0 ? undefined : this.get(kept.answers);
    if (request) request.answeredBy = kept.seq;
    if (this.#last - this.#first >= this.maxFrames) this.#dropFirst();
    while (this.#arena.size > this.maxBytes && this.#first < this.#last) this.#dropFirst();
    for (const listener of this.#listeners) listener();
    return kept;
  }

  get(seq: number): KeptFrame | undefined {
    if (seq < this.#first || seq > this.#last) return undefined;
    return this.#frames[(seq - 1) % this.maxFrames];
  }

  /** The bytes of a frame. Copy them to keep them. */
  dataOf({ stored }: KeptFrame): Buffer {
    return this.#arena.read(stored);
  }

  /** Calls back after each frame until the returned function is called. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets all frames. Their numbers are not used again. */
  clear(): void {
    while (this.#first <= this.#last) this.#dropFirst();
  }

  #dropFirst(): void {
    const at = (this.#first - 1) % this.maxFrames;
    const dropped = this.#frames[at];
    if (dropped?.seq === this.#first) {
      this.#arena.remove(dropped.stored);
      delete this.#frames[at];
    }
    this.#first += 1;
  }
}

/** The row of a frame. Times have one decimal. */
export function rowOf(frame: KeptFrame): FrameRow {
  return [
    frame.seq,
    tenth(frame.at),
    frame.connection,
    frame.direction,
    frame.kind,
    frame.method,
    frame.about,
    frame.id ?? null,
    frame.call,
    frame.bytes,
    frame.took < 0 ? -1 : tenth(frame.took),
    frame.flags,
  ];
}

export function tenth(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function flagsOf({ failed, redacted, byHand }: NewFrame, isCut: boolean): number {
  return (failed ? 1 : 0) + (isCut ? 2 : 0) + (redacted ? 4 : 0) + (byHand ? 8 : 0);
}

/** Lines that are not messages: their rows show how they begin. */
export const GIST_KINDS: ReadonlySet<FrameKind> = new Set(['stderr', 'noise', 'process']);

/** In the order of `RowKind`. */
export const KINDS: readonly FrameKind[] = [
  'request',
  'result',
  'error',
  'notification',
  'http',
  'stderr',
  'noise',
  'process',
  'note',
  'batch',
];
