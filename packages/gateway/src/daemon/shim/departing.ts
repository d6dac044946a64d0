import { decodeLine } from '@isthmus/sdk/internal/wire/codec.js';
import type {
  DecodedMessage,
  JsonRpcErrorBody,
  JsonRpcMessage,
} from '@isthmus/sdk/internal/wire/json-rpc.js';
import { failureLine } from './failures.js';
import { messagesOf } from './peek.js';

/** A line of the host on its way to the daemon. */
export interface Departing {
  readonly bytes: Buffer;
  readonly messages: readonly DecodedMessage[];
}

export function departing(message: JsonRpcMessage): Departing {
  const text = JSON.stringify(message);
  return { bytes: Buffer.from(`${text}\n`), messages: messagesOf(decodeLine(Buffer.from(text))) };
}

/** Whether somebody waits for an answer to it. */
export function wantsAnswer({ messages }: Departing): boolean {
  return messages.some(({ kind }) => kind === 'request' || kind === 'invalid');
}

/** What is answered when it cannot leave. */
export function refusalsOf({ messages }: Departing, error: JsonRpcErrorBody): readonly string[] {
  return messages.flatMap((message) => {
    if (message.kind === 'request') return [failureLine(message.id, error)];
    return message.kind === 'invalid' ? [failureLine(message.id, message.error)] : [];
  });
}

/** Lines that wait for a daemon, in order. */
export class WaitingLines {
  #lines: Departing[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** The host should not be read before some have left. */
  get isFull(): boolean {
    return this.#bytes > MAX_BYTES;
  }

  add(line: Departing): void {
    this.#lines.push(line);
    this.#bytes += line.bytes.length;
  }

  addFirst(line: Departing): void {
    this.#lines.unshift(line);
    this.#bytes += line.bytes.length;
  }

  takeAll(): readonly Departing[] {
    const lines = this.#lines;
    this.#lines = [];
    this.#bytes = 0;
    return lines;
  }
}

const MAX_BYTES = 1024 * 1024;
