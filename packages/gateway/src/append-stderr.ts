import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, EarlyMessage, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { ServiceAround } from './service-around.js';

/**
 * Tells clients the last words of a process that ended or could not be started. For gateways whose clients are those
 * who run them; others must not read what a server writes to stderr.
 */
export class AppendedStderr extends ServiceAround {
  override readonly ready: (
    opening: EarlyMessage,
    principal: string | undefined,
  ) => Promise<void> | undefined;
  readonly #lastWords: () => string;

  constructor(inner: Service, lastWords: () => string) {
    super(inner);
    this.#lastWords = lastWords;
    this.ready = (opening, principal) => inner.ready?.(opening, principal)?.catch(this.#tell);
  }

  override handle(call: Call): JsonObject | Promise<JsonObject> {
    const result = this.inner.handle(call);
    // A promise by itself is cheaper than a function that waits for it, and this one is on the way of every call.
    return result instanceof Promise ? result.catch(this.#tell) : result;
  }

  readonly #tell = (error: unknown): never => {
    const words = this.#lastWords().trim();
    if (!(error instanceof ProtocolError) || words === '' || !isAboutProcess(error.data)) throw error;
    const { code, message, data } = error;
    throw new ProtocolError(code, `${message}; last stderr: ${words.slice(-MAX_WORDS)}`, {
      ...(isJsonObject(data) && data),
      stderrTail: words.slice(-MAX_WORDS),
    });
  };
}

function isAboutProcess(data: unknown): boolean {
  return isJsonObject(data) && REASONS.has(data['reason']);
}

const REASONS: ReadonlySet<unknown> = new Set(['CHILD_EXITED', 'CANNOT_START', 'CRASH_LOOP']);
const MAX_WORDS = 2000;
