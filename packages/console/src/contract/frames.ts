import type { EpochMs, Offset, Seq } from './words.js';

export interface RowsEvent {
  readonly names: readonly (readonly [number, string])[];
  readonly rows: readonly FrameRow[];
}

/** One frame in a list, about 60 bytes. `Row[n]`, see `RowField`. */
export type FrameRow = readonly [
  seq: Seq,
  at: Offset,
  connection: number,
  /** 0: to the server. 1: to the client. */
  direction: 0 | 1,
  kind: RowKind,
  /** The method; for an answer, that of its request. An index into the names; 0 is the empty name. */
  method: number,
  /** The tool, prompt or URI; of a line that is not a message, how it begins. An index into the names. */
  about: number,
  id: string | number | null,
  /** 0: it belongs to no call. */
  call: number,
  bytes: number,
  /** Of an answer: the milliseconds since its request, with one decimal. Otherwise -1. */
  took: number,
  /** A sum of `RowFlag`s. */
  flags: number,
];

/** 0 request, 1 result, 2 error, 3 notification, 4 HTTP, 5 stderr, 6 not a message, 7 process, 8 note, 9 batch. */
export type RowKind = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** 1: it failed (an error, `isError`, a bad HTTP status). 2: its text is cut. 4: redacted. 8: sent by hand as bytes. */
export type RowFlag = 1 | 2 | 4 | 8;

/** The kinds of rows by their number. */
export type FrameKind =
  | 'request'
  | 'result'
  | 'error'
  | 'notification'
  | 'http'
  | 'stderr'
  | 'noise'
  | 'process'
  | 'note'
  | 'batch';

export interface FramesQuery {
  readonly after?: Seq;
  readonly before?: Seq;
  /** At most 2,000, which is the default. */
  readonly limit?: number;
  readonly connection?: number;
  readonly call?: number;
  readonly kind?: FrameKind;
  readonly method?: string;
  readonly direction?: 'to-server' | 'to-client';
  /** Searches the bodies, without regard to case. The process looks for at most 50 ms: see `FramesPage.searched`. */
  readonly find?: string;
}

export interface FramesPage extends RowsEvent {
  /** What the ring holds. `first` is 0 when it is empty. */
  readonly first: Seq;
  readonly last: Seq;
  /** Up to which frame was looked. Less than `last`, or `before`: ask again with `after` set to it. */
  readonly searched: Seq;
}

export interface FrameView {
  readonly seq: Seq;
  readonly at: EpochMs;
  readonly connection: number;
  readonly direction: 'to-server' | 'to-client';
  readonly kind: FrameKind;
  readonly method?: string;
  readonly about?: string;
  readonly id?: string | number;
  readonly bytes: number;
  /** As it was on the wire. Bytes that are not UTF-8 are shown as U+FFFD here, and `base64` has them. */
  readonly text: string;
  readonly base64?: string;
  /** How many bytes were left out at the end. */
  readonly cut?: number;
  readonly http?: HttpFacts;
  readonly process?: ProcessFacts;
  /** Why a line is not a message. */
  readonly problem?: string;
  /** Of a message to the client: what does not fit the schema of its revision. Absent: it was not judged. */
  readonly schema?: readonly string[];
  readonly call?: number;
  /** Of an answer: its request. */
  readonly answers?: Seq;
  /** Of a request: its answer, if there is one yet. */
  readonly answeredBy?: Seq;
  /** The frames of the same call on the other side of a bridge that this one became, or came from. */
  readonly other?: readonly Seq[];
  readonly redacted: boolean;
}

/** Names and values in the order of the wire. The values of headers that carry credentials are never here. */
export interface HttpFacts {
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The event id, where the message came on a stream. */
  readonly event?: string;
}

export interface ProcessFacts {
  readonly what: 'start' | 'exit' | 'connect' | 'lost' | 'closed';
  readonly pid?: number;
  readonly code?: number | null;
  readonly signal?: string | null;
}
