export type EraName = 'legacy' | 'modern';

/** The number of a frame. It rises by one from 1 and is never used twice. */
export type Seq = number;

/** Milliseconds since 1970. */
export type EpochMs = number;

/** Milliseconds since `Hello.began`, with one decimal. */
export type Offset = number;

/** JSON as it was typed. It is sent as it is: `1.0`, `1e400` and repeated keys stay what they are. */
export type JsonText = string;

/** The name of a server in a gateway. */
export interface ServerQuery {
  readonly server?: string;
}

/** One route: what it takes in its query and its body, and what it answers. `void`: nothing (204). */
export interface Route<Query, Body, Answer> {
  readonly query: Query;
  readonly body: Body;
  readonly answer: Answer;
}

/** No query, or no body. */
export type None = undefined;

/** A body that is not JSON. */
export interface Bytes {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** The name that a browser should save it under. */
  readonly file: string;
}

/** The body of every failure. */
export interface ApiFailure {
  readonly error: {
    /** A word: `INVALID_OPTION`, `NOT_ALLOWED`, `LINK_USED`, `GONE`, `TIMED_OUT`, `CHILD_EXITED` … */
    readonly code: string;
    /** What failed, and on what. */
    readonly message: string;
    readonly evidence?: readonly string[];
    /** What to do next. */
    readonly hint?: string;
  };
}
