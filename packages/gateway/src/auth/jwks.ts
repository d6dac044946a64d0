import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import type { JWTVerifyGetKey } from 'jose';

/** The keys could not be fetched, so the token could not be checked. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('The keys of the authorization server cannot be fetched');
    this.retryAfterMs = retryAfterMs;
  }
}

export interface KeySourceOptions {
  readonly jwksUrl: string;
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/**
 * The public keys at an address. They are kept for ten minutes. A token with an unknown key makes them fetched again, at
 * most every 30 s. While they cannot be fetched, the address is asked at most every 5 s, however many tokens come, so that
 * a client cannot make this server flood another one.
 */
export function createKeySource(options: KeySourceOptions): () => Promise<JWTVerifyGetKey> {
  const url = parseUrl(options.jwksUrl);
  const { timeoutMs = 5000, clock, warn } = options;
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) {
    throw new IsthmusError(
      'INVALID_OPTION',
      `jwt.timeoutMs must be a positive whole number, got ${timeoutMs}`,
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    warn(
      `${url.origin} is asked for keys without TLS: anyone on the network path can forge tokens; use https`,
    );
  }
  const fetchKeys = carefully(options.fetch ?? fetch, `${url.origin}${url.pathname}`, clock, warn);
  let source: Promise<JWTVerifyGetKey> | undefined;
  const open = async (): Promise<JWTVerifyGetKey> => {
    const { createRemoteJWKSet, customFetch, errors } = await import('jose');
    const remote = createRemoteJWKSet(url, { timeoutDuration: timeoutMs, [customFetch]: fetchKeys });
    return async (header, token) => {
      try {
        return await remote(header, token);
      } catch (error) {
        // These two errors are about the token.
        if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
          throw error;
        throw error instanceof KeysUnavailable ? error : new KeysUnavailable(PAUSE_MS);
      }
    };
  };
  return () => {
    source ??= open();
    return source;
  };
}

type FetchKeys = (url: string, init: RequestInit) => Promise<Response>;

/** Does not ask an address again for a while after it failed. Warns once for consecutive failures. */
function carefully(
  ask: typeof fetch,
  label: string,
  clock: Clock,
  warn: (message: string) => void,
): FetchKeys {
  let failedAt: number | undefined;
  let isDown = false;
  const fail = (why: string): never => {
    failedAt = clock.now();
    if (!isDown) warn(`${label} gives no keys (${why}): tokens that need them are refused`);
    isDown = true;
    throw new KeysUnavailable(PAUSE_MS);
  };
  return async (address, init) => {
    const since = failedAt === undefined ? PAUSE_MS : Math.abs(clock.now() - failedAt);
    if (since < PAUSE_MS) throw new KeysUnavailable(PAUSE_MS - since);
    let keys: unknown;
    try {
      const response = await ask(address, init);
      if (response.status !== 200) return fail(`HTTP ${response.status}`);
      keys = JSON.parse(await textOf(response));
    } catch (error) {
      if (error instanceof KeysUnavailable) throw error;
      return fail(messageOf((error as Error).cause ?? error));
    }
    if (!Array.isArray((keys as { keys?: unknown } | null)?.keys)) return fail('the answer is not a key set');
    if (isDown) warn(`${label} gives keys again`);
    failedAt = undefined;
    isDown = false;
    return Response.json(keys);
  };
}

/** An answer without end must not fill the memory. */
async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error(`the answer is longer than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === 'https:' || url.protocol === 'http:')) return url;
  throw new IsthmusError('INVALID_OPTION', `jwt.jwksUrl must be an https address, got ${text}`);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\./.test(host);
}

const PAUSE_MS = 5000;
const MAX_BYTES = 1024 * 1024;
