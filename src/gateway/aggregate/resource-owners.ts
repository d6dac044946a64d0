import { IsthmusError, ProtocolError } from '../../errors.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { Part } from './part.js';

/** Which server a resource belongs to, as far as lists and reads have shown. URIs are not renamed: others know them. */
export class ResourceOwners {
  readonly #owners = new Map<string, string>();

  learn(uri: unknown, part: Part): void {
    if (typeof uri !== 'string') return;
    // Where two servers have the same, the first one has it: the order of the configuration decides.
    if (!this.#owners.has(uri)) this.#owners.set(uri, part.name);
    if (this.#owners.size > MAX_KNOWN) this.#owners.delete(this.#owners.keys().next().value!);
  }

  forget(part: Part): void {
    for (const [uri, owner] of this.#owners) if (owner === part.name) this.#owners.delete(uri);
  }

  /** Asks the server that has it; where nobody is known to, one after the other until one has. */
  async ask<T>(uri: unknown, parts: readonly Part[], action: (part: Part) => Promise<T>): Promise<T> {
    const owner = parts.find(({ name }) => name === this.#owners.get(String(uri)));
    if (owner) return action(owner);
    let refusal: unknown = new ProtocolError(ErrorCode.InvalidParams, `No server has ${String(uri)}`, {
      uri,
    });
    for (const part of parts) {
      try {
        const result = await action(part);
        this.learn(uri, part);
        return result;
      } catch (error) {
        if (!isNotThere(error)) throw error;
        refusal = error instanceof ProtocolError ? error : refusal;
      }
    }
    throw refusal;
  }
}

/** This server does not have it, or cannot be asked at the moment; another may. */
function isNotThere(error: unknown): boolean {
  if (error instanceof IsthmusError) return error.sent === 'no';
  return error instanceof ProtocolError && NOT_THERE.has(error.code);
}

const NOT_THERE: ReadonlySet<number> = new Set([
  ErrorCode.InvalidParams,
  ErrorCode.LegacyResourceNotFound,
  ErrorCode.MethodNotFound,
]);
const MAX_KNOWN = 100_000;
