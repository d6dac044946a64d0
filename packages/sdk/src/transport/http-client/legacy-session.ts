import type { Clock } from '../../async/clock.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import { createDeadline } from './deadline.js';
import type { HttpAnswer } from './dispatch.js';
import { type AnswerRefusal, readSome } from './read-answer.js';
import type { RetryingHttp } from './retrying-http.js';

/** What a legacy server gave out in the handshake and wants to see with every request (SESS-004, LHTTP-024). */
export class LegacyClientSession {
  #id: string | undefined;
  #revision: string | undefined;

  /** The handshake began anew: what came before is void. */
  begin(): void {
    this.#id = undefined;
    this.#revision = undefined;
  }

  /** The answer that carries the InitializeResult. */
  assigned(answer: HttpAnswer): void {
    if (answer.status === 200) this.#id = answer.header('mcp-session-id') || undefined;
  }

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
   * Whether a refusal means that the server no longer knows the session. That is 404 (SESS-007), unless it is
   * about the method; servers in the field that were started again say 400 and complain about the session.
   */
  isLostBy({ status, message }: Pick<AnswerRefusal, 'status' | 'message'>): boolean {
    if (!this.hasId) return false;
    if (status === 404) return message?.id === undefined || message.error.code !== ErrorCode.MethodNotFound;
    if (status !== 400 || !message || message.id !== undefined) return false;
    return /\bsession\b|not initialized/i.test(message.error.message);
  }
}

/** Says that it is no longer needed (SESS-008). Nobody waits long for that, and nothing depends on it. */
export async function leaveSession({
  asker,
  url,
  session,
  clock,
}: {
  readonly asker: RetryingHttp;
  readonly url: URL;
  readonly session: LegacyClientSession;
  readonly clock: Clock;
}): Promise<void> {
  const { signal, callOff } = createDeadline(clock, FAREWELL_MS, () => new Error('it took too long'));
  try {
    const answer = await asker.ask({ method: 'DELETE', url, headers: session.headers, signal });
    await readSome(answer.body, MAX_BODY_BYTES);
  } catch {
    // The server will find out by itself.
  } finally {
    callOff();
  }
}

const FAREWELL_MS = 2000;
const MAX_BODY_BYTES = 16 * 1024;
