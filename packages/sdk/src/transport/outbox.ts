import { IsthmusError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import { errorMessage, type JsonRpcMessage } from '../wire/json-rpc.js';

/**
 * Messages that have not begun to leave, as text, in order. Each has a number, counted from 1, by which it can be
 * withdrawn. Sizes are in characters.
 */
export class Outbox {
  #queue: string[] = [];
  /** The length of all messages that wait. */
  size = 0;
  /** How many messages were added. */
  added = 0;
  /** How many of them have left the queue. A withdrawn message counts when its turn comes. */
  taken = 0;
  /** Withdrawn messages whose turn has not come. */
  #holes = 0;

  /** What withdrawn messages cost: each keeps an empty entry in the queue until its turn. */
  get overhead(): number {
    return this.#holes * HOLE_COST;
  }

  add(text: string): void {
    this.#queue.push(text);
    this.size += text.length;
    this.added += 1;
  }

  /** Removes a message. False when it has left the queue already. */
  withdraw(number: number): boolean {
    const at = number - this.taken - 1;
    const text = at >= 0 ? this.#queue[at] : undefined;
    if (!text) return false;
    this.#queue[at] = '';
    this.size -= text.length;
    this.#holes += 1;
    return true;
  }

  /** The next messages in one text. The text is larger than a slice only when its one message is. */
  take(): string | undefined {
    if (this.#queue.length === 0) return undefined;
    const texts = this.size <= SLICE_BYTES ? this.#queue : this.#queue.splice(0, this.#countOfSlice());
    if (texts === this.#queue) this.#queue = [];
    this.taken += texts.length;
    const text = texts.length === 1 ? texts[0]! : texts.join('');
    this.size -= text.length;
    if (this.#holes > 0) this.#holes -= texts.filter((each) => each === '').length;
    // All of these messages were withdrawn.
    return text === '' ? this.take() : text;
  }

  clear(): void {
    this.#queue = [];
    this.size = 0;
    this.#holes = 0;
  }

  /** How many messages fit into a slice; at least one. */
  #countOfSlice(): number {
    let count = 1;
    let length = this.#queue[0]!.length;
    while (count < this.#queue.length) {
      length += this.#queue[count]!.length;
      if (length > SLICE_BYTES) break;
      count += 1;
    }
    return count;
  }
}

/** Larger writes are cut into pieces of this size. */
export const SLICE_BYTES = 256 * 1024;

/** What an empty entry of the queue costs in memory, roughly. */
const HOLE_COST = 64;

export interface FullOutbox {
  /** The name of the connection. */
  readonly label: string;
  /** How much the peer has yet to read. */
  readonly waiting: number;
  /** How much may wait before requests are refused. */
  readonly max: number;
  /** The length of a message larger than `max` that was sent while little waited: it says nothing about the peer. */
  readonly large: number;
}

export type OutboxAdmission =
  | { readonly kind: 'queue' }
  | { readonly kind: 'replace'; readonly message: JsonRpcMessage }
  | { readonly kind: 'refuse'; readonly error: IsthmusError }
  | { readonly kind: 'close'; readonly error: IsthmusError };

/**
 * Decides about a message when the outbox is over its bound. A request is refused: its caller can repeat it. Answers and
 * cancellations are queued, since they free what the peer holds, and since all running calls may end in one turn, in
 * which the peer has no time to read. Past `isFarOverBound` a timer watches whether the peer reads. Past 16 times the
 * bound a result is replaced by a short error. Past 20 times the connection ends: the peer sends requests and does not
 * read. A single message that is larger than the bound by itself does not count.
 */
export function admitToOutbox(
  message: JsonRpcMessage,
  { label, waiting, max, large }: FullOutbox,
): OutboxAdmission {
  if ('method' in message && 'id' in message) return { kind: 'refuse', error: busy({ label, waiting, max }) };
  if (waiting - large > max * 20) return { kind: 'close', error: notReading(label, waiting) };
  if (waiting - large > max * 16 && 'result' in message) {
    const text = `The result was dropped: ${waiting} bytes of earlier messages have not been read`;
    return {
      kind: 'replace',
      message: errorMessage(message.id, { code: ErrorCode.InternalError, message: text }),
    };
  }
  return { kind: 'queue' };
}

/** Past this a peer that reads nothing for `SILENT_MS` loses its connection. */
export function isFarOverBound({ waiting, max, large }: Omit<FullOutbox, 'label'>): boolean {
  return waiting - large > max * 4;
}

export function notReading(label: string, waiting: number): IsthmusError {
  return new IsthmusError('CONNECTION_CLOSED', `${unreadText(label, waiting)}; the connection was closed`);
}

/** Why a request is refused when the outbox is over its bound. */
export function busy({ label, waiting, max }: Omit<FullOutbox, 'large'>): IsthmusError {
  const text = `${unreadText(label, waiting)}, and at most ${max} may wait; the request was not sent, try again later`;
  return new IsthmusError('BUSY', text, { sent: 'no' });
}

function unreadText(label: string, waiting: number): string {
  return `${label} has not read ${waiting} bytes that were sent to it`;
}

/** A peer that reads takes a slice of 256 KiB in that time. */
export const SILENT_MS = 10_000;
