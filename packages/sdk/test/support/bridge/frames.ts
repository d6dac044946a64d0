import { PATIENCE_MS } from '../../../../../test/support/until.js';

export { until } from '../../../../../test/support/until.js';

/** A message as it stood on the line. */
export interface Message {
  readonly jsonrpc?: string;
  readonly id?: string | number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages by path and compare with literals
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A message that crossed one of the two links of a bridge. */
export interface Frame {
  readonly from: 'client' | 'server';
  readonly message: Message;
}

export type Era = 'legacy' | 'modern';
export type LegacyRevision = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25';
export type Revision = LegacyRevision | '2026-07-28';

export const VERSION = 'io.modelcontextprotocol/protocolVersion';
export const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
export const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
export const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** Lines of JSON, cut from however the bytes come. */
export function createLineCutter(onMessage: (message: Message) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) onMessage(JSON.parse(line) as Message);
  };
}

/** What has arrived and was not taken yet; whoever takes waits for it, within a bound. */
export class Inbox<T> {
  readonly #what: string;
  readonly #arrived: T[] = [];
  #wake: () => void = () => {};
  #over = false;

  constructor(what: string) {
    this.#what = what;
  }

  push(item: T): void {
    this.#arrived.push(item);
    this.#wake();
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  async next(): Promise<T> {
    const deadline = Date.now() + PATIENCE_MS;
    while (this.#arrived.length === 0) {
      if (this.#over) throw new Error(`the connection is closed: no ${this.#what} will come`);
      await new Promise<void>((resolve, reject) => {
        const late = () => reject(new Error(`no ${this.#what} came within ${PATIENCE_MS} ms`));
        const timer = setTimeout(late, Math.max(0, deadline - Date.now()));
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.#arrived.shift()!;
  }

  /** Takes all that is there. */
  drain(): T[] {
    return this.#arrived.splice(0);
  }
}

/** Turns of the event loop after which everything in this process that waits for no timer has happened. */
export async function settle(turns = 30): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
