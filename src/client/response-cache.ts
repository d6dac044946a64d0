import type { Clock } from '../async/clock.js';
import type { Change } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';

/**
 * Results that a modern server allows to keep (`ttlMs`, `cacheScope`). Private ones are kept only where it is
 * known whose they are. A change that the server tells of drops what it concerns at once.
 */
export class ResponseCache {
  readonly #clock: Clock;
  readonly #principal: string | undefined;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock, principal: string | undefined) {
    this.#clock = clock;
    this.#principal = principal;
  }

  get(method: string, params: JsonObject): JsonObject | undefined {
    const key = keyOf(method, params);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (this.#clock.now() < entry.until) return entry.result;
    this.#entries.delete(key);
    return undefined;
  }

  put(method: string, params: JsonObject, result: JsonObject): void {
    const { ttlMs, cacheScope, resultType } = result;
    if (typeof ttlMs !== 'number' || !(ttlMs > 0) || resultType === 'input_required') return;
    if (cacheScope !== 'public' && this.#principal === undefined) return;
    if (this.#entries.size >= MAX_ENTRIES) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(keyOf(method, params), {
      result,
      method,
      uri: params['uri'],
      until: this.#clock.now() + ttlMs,
    });
  }

  changed(change: Change): void {
    for (const [key, entry] of this.#entries) if (concerns(change, entry)) this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}

const MAX_ENTRIES = 1000;

interface Entry {
  readonly result: JsonObject;
  readonly method: string;
  readonly uri: unknown;
  readonly until: number;
}

function keyOf(method: string, params: JsonObject): string {
  return JSON.stringify([method, params['uri'] ?? null, params['cursor'] ?? null]);
}

function concerns(change: Change, { method, uri }: Entry): boolean {
  switch (change.kind) {
    case 'tools':
      return method === 'tools/list';
    case 'prompts':
      return method === 'prompts/list';
    case 'resources':
      return method === 'resources/list' || method === 'resources/templates/list';
    case 'resource':
      return method === 'resources/read' && uri === change.uri;
  }
}
