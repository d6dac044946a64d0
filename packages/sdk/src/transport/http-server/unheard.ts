import { EVENT_OVERHEAD_BYTES, type EventMemory, type Shrinkable } from './event-memory.js';

/** What a session has to say before its client reads its standing stream: a few messages, the newest. */
export class Unheard implements Shrinkable {
  readonly #who: string;
  readonly #memory: EventMemory;
  #messages: string[] = [];
  #bytes = 0;

  constructor(who: string, memory: EventMemory) {
    this.#who = who;
    this.#memory = memory;
  }

  add(json: string): void {
    const bytes = sizeOf(json);
    // One that is too large is not kept, as in the store for streams that were begun.
    if (bytes > MAX_BYTES) return;
    this.#messages.push(json);
    this.#bytes += bytes;
    while (this.#messages.length > MAX_MESSAGES) this.#dropOldest();
    this.shrinkTo(MAX_BYTES);
    this.#memory.holds(this.#who, this, this.#bytes);
  }

  /** All of them, once. */
  take(): readonly string[] {
    const messages = this.#messages;
    this.#messages = [];
    this.#bytes = 0;
    this.#memory.holds(this.#who, this, 0);
    return messages;
  }

  shrinkTo(bytes: number): number {
    while (this.#bytes > bytes) this.#dropOldest();
    return this.#bytes;
  }

  #dropOldest(): void {
    this.#bytes -= sizeOf(this.#messages.shift()!);
  }
}

function sizeOf(json: string): number {
  return Buffer.byteLength(json) + EVENT_OVERHEAD_BYTES;
}

const MAX_MESSAGES = 100;
const MAX_BYTES = 512 * 1024;
