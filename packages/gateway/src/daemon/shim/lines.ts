import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { decodeLine, oversizeMessage } from '@isthmus/sdk/internal/wire/codec.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import {
  type Decoded,
  type DecodedMessage,
  errorMessage,
  type JsonRpcErrorBody,
  type JsonRpcMessage,
  type RequestId,
} from '@isthmus/sdk/internal/wire/json-rpc.js';

/** A line of the host for the daemon. */
export interface HostLine {
  /** With the line feed. */
  readonly bytes: Buffer;
  /** One message, or the messages of a batch. */
  readonly messages: readonly DecodedMessage[];
}

export function hostLine(bytes: Buffer, decoded: Decoded): HostLine {
  return { bytes, messages: decoded.kind === 'batch' ? decoded.items : [decoded] };
}

export function encodeLine(message: JsonRpcMessage): HostLine {
  const text = JSON.stringify(message);
  return hostLine(Buffer.from(`${text}\n`), decodeLine(Buffer.from(text)));
}

/** Whether the host waits for an answer to the line. */
export function wantsAnswer({ messages }: HostLine): boolean {
  return messages.some(({ kind }) => kind === 'request' || kind === 'invalid');
}

/** The answers to a line that cannot be sent. */
export function refusalsOf({ messages }: HostLine, error: JsonRpcErrorBody): readonly string[] {
  return messages.flatMap((message) => {
    if (message.kind === 'request') return [failureLine(message.id, error)];
    return message.kind === 'invalid' ? [failureLine(message.id, message.error)] : [];
  });
}

/** Lines that wait for a daemon, in order. */
export class WaitingLines {
  #lines: HostLine[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** The host should not be read before some lines have left. */
  get isFull(): boolean {
    return this.#bytes > MAX_WAITING_BYTES;
  }

  add(line: HostLine): void {
    this.#lines.push(line);
    this.#bytes += line.bytes.length;
  }

  addFirst(line: HostLine): void {
    this.#lines.unshift(line);
    this.#bytes += line.bytes.length;
  }

  takeAll(): readonly HostLine[] {
    const lines = this.#lines;
    this.#lines = [];
    this.#bytes = 0;
    return lines;
  }
}

const MAX_WAITING_BYTES = 1024 * 1024;

/** The part of a daemon's line that a shim needs. */
export type PeekedLine =
  | { readonly kind: 'answer'; readonly id: RequestId; readonly isError: boolean }
  | { readonly kind: 'request'; readonly id: RequestId }
  | { readonly kind: 'other' };

/** Reads the beginning of a line only: answers may be large, and the daemon writes the id first. */
export function peekLine(line: Buffer): PeekedLine {
  const head = HEAD.exec(line.toString('latin1', 0, Math.min(line.length, HEAD_BYTES)));
  if (head) {
    const [, id, member] = head;
    // An id with characters beyond ASCII needs the whole decoder.
    if (!/[^ -~]/.test(id!)) return peeked(JSON.parse(id!) as RequestId, member!);
  }
  const decoded = decodeLine(line);
  switch (decoded.kind) {
    case 'result':
      return { kind: 'answer', id: decoded.id, isError: false };
    case 'error':
      return decoded.id === undefined ? { kind: 'other' } : { kind: 'answer', id: decoded.id, isError: true };
    case 'request':
      return { kind: 'request', id: decoded.id };
    default:
      return { kind: 'other' };
  }
}

function peeked(id: RequestId, member: string): PeekedLine {
  return member === 'method' ? { kind: 'request', id } : { kind: 'answer', id, isError: member === 'error' };
}

const HEAD = /^\{"jsonrpc":"2\.0","id":(-?\d+|"(?:[^"\\]|\\.)*"),"(result|error|method)":/;
const HEAD_BYTES = 512;

/** The answer to a request that gets no other answer. */
export function failureLine(id: RequestId | undefined, error: JsonRpcErrorBody): string {
  return JSON.stringify(errorMessage(id, error));
}

/** The daemon died while it had the request. It is not known whether the request ran. */
export function lostBody(name: string): JsonRpcErrorBody {
  return {
    code: ErrorCode.InternalError,
    message: `The daemon that serves ${name} ended while this request was in flight; it may have run`,
    data: { reason: 'CONNECTION_CLOSED', sent: 'maybe' },
  };
}

/** The shim ends before the answer came. */
export function stoppedBody(sent: 'no' | 'maybe'): JsonRpcErrorBody {
  return {
    code: ErrorCode.InternalError,
    message: 'isthmus attach stopped before this request was finished',
    data: { reason: 'CONNECTION_CLOSED', sent },
  };
}

/** Attaching failed. */
export function unreachableBody(thrown: unknown): JsonRpcErrorBody {
  const { code = 'CANNOT_START', stderrTail } = thrown instanceof IsthmusError ? thrown : {};
  return {
    code: ErrorCode.InternalError,
    message: messageOf(thrown),
    data: { reason: code, sent: 'no', ...(stderrTail && { stderrTail }) },
  };
}

/** Replaces an answer that is too long to be passed on. The id is undefined when it cannot be found. */
export function tooLongLine(
  head: Buffer,
  tail: Buffer,
): { readonly id: RequestId | undefined; readonly line: string } {
  const { answers: id } = oversizeMessage(head, tail, 0);
  const data = { reason: 'RESULT_TOO_LARGE', sent: 'maybe' };
  const error = { code: ErrorCode.InternalError, message: 'The answer is too long to be passed on', data };
  return { id, line: failureLine(id, error) };
}
