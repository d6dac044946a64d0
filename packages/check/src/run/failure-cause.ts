import type { Reply } from '../conversation/conversation.js';
import type { Frame } from '../wire/transcript.js';

/** What a failure shows about the server, whatever its sentence says. Findings with one cause are grouped. */
export type FailureCause =
  /** A request had no result. Without a code it had no answer either. */
  | { readonly kind: 'no-result'; readonly method: string; readonly code?: number }
  /** An error came without the id of its request. */
  | { readonly kind: 'error-without-id' }
  /** The server wrote something other than a message. */
  | { readonly kind: 'not-a-message'; readonly text: string };

/** A part of the details of a failure. */
interface WithCause {
  readonly cause?: FailureCause;
}

/** The cause in a reply that is not a result. */
export function causeIn(reply: Reply, method = reply.method): WithCause {
  if (reply.kind === 'result') return {};
  return noResult(method, reply.kind === 'error' ? reply.error.code : undefined);
}

/** No code: no answer. */
export function noResult(method: string, code: number | undefined): WithCause {
  return { cause: { kind: 'no-result', method, ...(code !== undefined && { code }) } };
}

/** The cause that a message of the server shows. */
export function causeInFrame(frame: Frame | undefined): WithCause {
  return frame?.kind === 'error' && frame.id === undefined ? { cause: { kind: 'error-without-id' } } : {};
}

export function notAMessage({ text }: Pick<Frame, 'text'>): WithCause {
  return { cause: { kind: 'not-a-message', text: text.slice(0, MOST_CHARS) } };
}

const MOST_CHARS = 160;
