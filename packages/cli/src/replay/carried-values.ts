import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/**
 * Values that a server gives and a client sends back: cursors, the state of a round, ids of tasks, the names of what is
 * asked. The server of the replay has given others, so they take the place of those in the file.
 */
export class CarriedValues {
  readonly #values = new Map<string, string>();

  /** Learns from an answer in the file and the answer of now. */
  learn(recorded: JsonObject | undefined, now: JsonObject | undefined): void {
    if (recorded && now) this.#learn(recorded, now, 0);
  }

  /** The params to send now. The same object where nothing is carried. */
  apply(params: JsonObject): JsonObject {
    if (this.#values.size === 0) return params;
    const applied = Object.entries(params).map(([name, value]): [string, unknown] => [
      name,
      this.#applyTo(name, value),
    ]);
    return applied.every(([name, value]) => value === params[name]) ? params : Object.fromEntries(applied);
  }

  #learn(recorded: JsonObject, now: JsonObject, depth: number): void {
    for (const name of CARRIED) {
      const [was, is] = [recorded[name], now[name]];
      if (typeof was === 'string' && typeof is === 'string') this.#values.set(`${name} ${was}`, is);
    }
    const [asked, asks] = [recorded['inputRequests'], now['inputRequests']];
    if (isJsonObject(asked) && isJsonObject(asks)) {
      const names = Object.keys(asks);
      for (const [at, was] of Object.keys(asked).entries())
        if (names[at] !== undefined) this.#values.set(`inputRequests ${was}`, names[at]);
    }
    const [task, tasks] = [recorded['task'], now['task']];
    if (depth === 0 && isJsonObject(task) && isJsonObject(tasks)) this.#learn(task, tasks, 1);
  }

  #applyTo(name: string, value: unknown): unknown {
    const source = name === 'cursor' ? 'nextCursor' : name;
    if (typeof value === 'string') return this.#values.get(`${source} ${value}`) ?? value;
    if (name !== 'inputResponses' || !isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [this.#values.get(`inputRequests ${key}`) ?? key, each]),
    );
  }
}

/** Members of results that come back in the params of a later request. */
export const CARRIED = ['nextCursor', 'requestState', 'taskId'] as const;
