import type { Clock } from '../../async/clock.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import { createDeadline } from './deadline.js';
import type { HttpAnswer } from './dispatch.js';
import { timedOut } from './failures.js';
import { type AnswerRefusal, readSome } from './read-answer.js';
import type { RetryingHttp } from './retrying-http.js';

/** The id and the revision that a legacy server expects with every request (SESS-004, LHTTP-024). */
export class LegacyClientSession {
  readonly #http: RetryingHttp;
  readonly #url: URL;
  readonly #clock: Clock;
  #id: string | undefined;
  #revision: string | undefined;

  constructor(http: RetryingHttp, url: URL, clock: Clock) {
    this.#http = http;
    this.#url = url;
    this.#clock = clock;
  }

  /** A new handshake begins. The session of an earlier one is forgotten. */
  begin(): void {
    this.#id = undefined;
    this.#revision = undefined;
  }

  /** Reads the session id from the answer to `initialize`. */
  assigned(answer: HttpAnswer): void {
    if (answer.status === 200) this.#id = answer.header('mcp-session-id') || undefined;
  }

  /** Reads the revision from the InitializeResult. */
  agreed(result: JsonObject): void {
    const { protocolVersion } = result;
    if (typeof protocolVersion === 'string') this.#revision = protocolVersion;
  }

  get hasId(): boolean {
    return this.#id !== undefined;
  }

  get headers(): Record<string, string> {
    return {
      ...(this.#id !== undefined && { 'mcp-session-id': this.#id }),
      ...(this.#revision !== undefined && { 'mcp-protocol-version': this.#revision }),
    };
  }

  /**
   * Whether a refusal means that the server no longer knows the session. That is 404 (SESS-007), unless the error is
   * about the method. Some servers answer with 400 after a restart, and name the session in the message.
   */
  isLostBy({ status, message }: Pick<AnswerRefusal, 'status' | 'message'>): boolean {
    if (!this.hasId) return false;
    if (status === 404) return message?.id === undefined || message.error.code !== ErrorCode.MethodNotFound;
    if (status !== 400 || !message || message.id !== undefined) return false;
    return /\bsession\b|not initialized/i.test(message.error.message);
  }

  /** Tells the server that the session is no longer needed (SESS-008). Settles within 2 s and never rejects. */
  async leave(): Promise<void> {
    const { signal, cancel } = createDeadline(this.#clock, LEAVE_MS, () =>
      timedOut(this.#http.label, LEAVE_MS),
    );
    try {
      const request = { method: 'DELETE', url: this.#url, headers: this.headers, signal } as const;
      const answer = await this.#http.send(request);
      await readSome(answer.body, MAX_BODY_BYTES);
    } catch {
      // The server will expire the session by itself.
    } finally {
      cancel();
    }
  }
}

const LEAVE_MS = 2000;
const MAX_BODY_BYTES = 16 * 1024;
