import type { Clock } from '../async/clock.js';
import { isPartOf } from '../era/subscriptions.js';
import type { Change } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';
import { OutputChecks } from './result-checks.js';

/**
 * Keeps results for as long as a modern server allows (`ttlMs`, `cacheScope`). Private results are kept only where the
 * principal is known. A change that the server announces removes the results that it concerns.
 */
export class ResponseCache {
  readonly #clock: Clock;
  readonly #principal: string | undefined;
  /** Undefined until a result may be kept: most servers allow none. */
  #entries: Map<string, Entry> | undefined;
  /** The length of all texts. */
  #chars = 0;
  /** Counts announced changes by kind. An answer that was on its way during a change is not kept (CACHE-015). */
  readonly #changes = { tools: 0, prompts: 0, resources: 0, resource: 0 };

  constructor(clock: Clock, principal: string | undefined) {
    this.#clock = clock;
    this.#principal = principal;
  }

  /** Returns a copy, since callers may change it. */
  get(method: string, params: JsonObject): JsonObject | undefined {
    if (!this.#entries) return undefined;
    const key = keyOf(method, params);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (this.#clock.now() < entry.until) return JSON.parse(entry.text) as JsonObject;
    this.#delete(key);
    return undefined;
  }

  /** Call it before a request is sent, and pass the value to `put` with the answer. */
  stamp(method: string): number {
    return this.#changes[kindOf(method)];
  }

  put(method: string, params: JsonObject, result: JsonObject, stamp: number): void {
    const { ttlMs, cacheScope, resultType } = result;
    if (typeof ttlMs !== 'number' || !(ttlMs > 0) || resultType === 'input_required') return;
    if (cacheScope !== 'public' && this.#principal === undefined) return;
    if (stamp !== this.stamp(method)) return;
    const key = keyOf(method, params);
    const text = JSON.stringify(result);
    const until = this.#clock.now() + ttlMs;
    this.#delete(key);
    if (text.length > MAX_ENTRY_CHARS) return;
    this.#entries ??= new Map();
    this.#entries.set(key, { text, method, uri: params['uri'], until });
    this.#chars += text.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#chars <= MAX_CHARS) break;
      this.#delete(oldest);
    }
  }

  changed(change: Change): void {
    if (change.kind === 'foreign') return;
    this.#changes[change.kind] += 1;
    for (const [key, entry] of this.#entries ?? []) if (concerns(change, entry)) this.#delete(key);
  }

  has(method: string): boolean {
    return [...(this.#entries?.values() ?? [])].some((entry) => entry.method === method);
  }

  /** Removes all pages of a list. */
  drop(method: string): void {
    for (const [key, entry] of this.#entries ?? []) if (entry.method === method) this.#delete(key);
  }

  clear(): void {
    this.#entries = undefined;
    this.#chars = 0;
  }

  #delete(key: string): void {
    this.#chars -= this.#entries?.get(key)?.text.length ?? 0;
    this.#entries?.delete(key);
  }
}

const MAX_ENTRIES = 1000;
const MAX_CHARS = 16 * 1024 * 1024;
const MAX_ENTRY_CHARS = 4 * 1024 * 1024;

interface Entry {
  readonly text: string;
  readonly method: string;
  readonly uri: unknown;
  readonly until: number;
}

function keyOf(method: string, params: JsonObject): string {
  return JSON.stringify([method, params['uri'] ?? null, params['cursor'] ?? null]);
}

function concerns(change: Change, { method, uri }: Entry): boolean {
  if (change.kind !== kindOf(method)) return false;
  return change.kind !== 'resource' || (typeof uri === 'string' && isPartOf(change.uri, uri));
}

function kindOf(method: string): Exclude<Change['kind'], 'foreign'> {
  switch (method) {
    case 'tools/list':
      return 'tools';
    case 'prompts/list':
      return 'prompts';
    case 'resources/read':
      return 'resource';
    default:
      return 'resources';
  }
}

/** What a client keeps of the server's answers: cached results and output schemas. */
export class ClientMemory {
  readonly cache: ResponseCache;
  readonly outputs = new OutputChecks();

  constructor(clock: Clock, principal: string | undefined) {
    this.cache = new ResponseCache(clock, principal);
  }

  readonly onChange = (change: Change): void => {
    this.cache.changed(change);
    if (change.kind === 'tools') this.outputs.forget();
  };

  /** Changes may have been missed, and the new server may be another one. */
  readonly onReopened = (): void => {
    this.cache.clear();
    this.outputs.forget();
  };
}
