/**
 * Two kinds of failure, never mixed up: a `ProtocolError` travels on the wire and has a number, an
 * `IsthmusError` happened here and has a word. ERR-010 asks that callers can tell them apart.
 */

/** A JSON-RPC error. Throw it in a handler to answer with exactly this code. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: number;
  readonly data: unknown;
  /** The HTTP status that it came with, where that was an error, too. */
  readonly status: number | undefined;

  constructor(code: number, message: string, data?: unknown, status?: number) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

export type LocalErrorCode =
  /** An option or a definition makes no sense; the message says which. */
  | 'INVALID_OPTION'
  /** The peer cannot do what was asked of it (legacy; in the modern era this is error -32021). */
  | 'CAPABILITY_MISSING'
  /** The peer answered a question with an error; the `cause` is what it sent. */
  | 'REFUSED_BY_PEER'
  /** The connection ended before the answer came. */
  | 'CONNECTION_CLOSED'
  /** No answer within the time allowed. */
  | 'TIMED_OUT'
  /** The caller no longer wants the answer. */
  | 'CANCELLED'
  /** A bounded resource is used up. */
  | 'BUSY'
  /** The server wants to know who asks (401, 403), or refuses who asked. */
  | 'UNAUTHORIZED'
  /** The answer was an HTTP status and no message; the error has the status. */
  | 'HTTP_STATUS'
  /** The address cannot be listened on or reached. */
  | 'ADDRESS_UNAVAILABLE'
  /** A value cannot be written as JSON. */
  | 'NOT_ENCODABLE'
  /** The server's process ended; the message has its exit and last words. */
  | 'CHILD_EXITED'
  /** The system refused to start the server's process; the `cause` has its code (ENOENT, EACCES, EAGAIN …). */
  | 'CANNOT_START'
  /** The server's process ended too often in a row and is not started again by itself. */
  | 'CRASH_LOOP'
  /** The server is switched off. */
  | 'DISABLED'
  /** Client and server have no era or revision in common; the message says what each speaks. */
  | 'NO_COMMON_REVISION'
  /** The answer is not what the protocol, or the tool's output schema, promises. */
  | 'INVALID_RESULT'
  /** The answer was longer than the limit for a line. */
  | 'RESULT_TOO_LARGE'
  /** The server asked for input more often than allowed. */
  | 'TOO_MANY_ROUNDS'
  /** The server asked for something that nobody here can answer. */
  | 'CANNOT_ANSWER'
  /** The era that the peer speaks has no such thing. */
  | 'NOT_IN_THIS_ERA';

/** Whether a request had left when it failed: only `no` makes a retry safe. */
export type Sent = 'no' | 'maybe';

export interface IsthmusErrorOptions {
  readonly cause?: unknown;
  readonly sent?: Sent | undefined;
  readonly evidence?: readonly string[] | undefined;
  readonly generation?: number | undefined;
  readonly stderrTail?: string | undefined;
  readonly status?: number | undefined;
}

/** A failure on this side of the wire, with a stable code. */
export class IsthmusError extends Error {
  override readonly name = 'IsthmusError';
  readonly code: LocalErrorCode;
  /** Set where the failure concerns a request. */
  readonly sent: Sent | undefined;
  /** What each step brought, where connecting took several. */
  readonly evidence: readonly string[] | undefined;
  /** Which life of the server's process it happened in, where a host counts them. */
  readonly generation: number | undefined;
  /** The HTTP status, where there was one. */
  readonly status: number | undefined;
  /** The last of what the server's process wrote to stderr, where one is concerned. */
  readonly stderrTail: string | undefined;

  constructor(code: LocalErrorCode, message: string, options?: IsthmusErrorOptions) {
    super(message, options);
    this.code = code;
    this.sent = options?.sent;
    this.evidence = options?.evidence;
    this.generation = options?.generation;
    this.status = options?.status;
    this.stderrTail = options?.stderrTail;
  }

  /** The same failure with more known about it. */
  with(options: Omit<IsthmusErrorOptions, 'cause'>): IsthmusError {
    const { sent, evidence, generation, stderrTail, status } = this;
    const known = { sent, evidence, generation, stderrTail, status };
    return new IsthmusError(this.code, this.message, { ...known, cause: this.cause, ...options });
  }
}

/**
 * Why a file cannot be read, without the path that the system puts into its message: where a path is expected, a key
 * may have been given by mistake.
 */
export function reasonWithoutPath(thrown: unknown): string {
  const { code, syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  const isOfSystem = typeof code === 'string' && typeof syscall === 'string';
  return isOfSystem ? messageOf(thrown).split(`, ${syscall}`)[0]! : 'it is not a path of a file';
}

/** The message of anything that was thrown, however odd; never a stack, and never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message) || String(thrown.name);
    if (typeof thrown === 'string') return thrown;
    if (thrown === undefined) return 'it failed without saying why';
    return typeof thrown === 'object' ? JSON.stringify(thrown) : String(thrown);
  } catch {
    return 'it failed with something that cannot be put into words';
  }
}
