import { decodeLine } from '@isthmus/sdk/internal/wire/codec.js';
import type { Decoded, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** As much of a line of the daemon as a shim has to know. */
export type Peeked =
  | { readonly kind: 'answer'; readonly id: RequestId; readonly isError: boolean }
  | { readonly kind: 'request'; readonly id: RequestId }
  | { readonly kind: 'other' };

/** Answers may be large, and the daemon writes what counts at their beginning: there is no need to read the rest. */
export function peekAnswer(line: Buffer): Peeked {
  const head = HEAD.exec(line.toString('latin1', 0, Math.min(line.length, HEAD_BYTES)));
  if (head) {
    const [, id, member] = head;
    // An id with characters that are no ASCII is read with all the rest.
    if (!/[^ -~]/.test(id!)) return peeked(JSON.parse(id!) as RequestId, member!);
  }
  const decoded = decodeLine(line);
  switch (decoded.kind) {
    case 'result':
      return { kind: 'answer', id: decoded.id, isError: false };
    case 'error':
      return decoded.id === undefined ? OTHER : { kind: 'answer', id: decoded.id, isError: true };
    case 'request':
      return { kind: 'request', id: decoded.id };
    default:
      return OTHER;
  }
}

function peeked(id: RequestId, member: string): Peeked {
  return member === 'method' ? { kind: 'request', id } : { kind: 'answer', id, isError: member === 'error' };
}

const HEAD = /^\{"jsonrpc":"2\.0","id":(-?\d+|"(?:[^"\\]|\\.)*"),"(result|error|method)":/;
const HEAD_BYTES = 512;
const OTHER: Peeked = { kind: 'other' };

/** The messages of a line of the host: one, or those of a batch. */
export function messagesOf(decoded: Decoded): readonly Exclude<Decoded, { kind: 'batch' }>[] {
  return decoded.kind === 'batch' ? decoded.items : [decoded];
}
