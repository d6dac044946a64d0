import { IsthmusError, ProtocolError } from '../../errors.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject } from '../../wire/json-rpc.js';
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

  /** Those to ask for it: the one that has it, or all of them where nobody is known to. */
  among(uri: unknown, parts: readonly Part[]): readonly Part[] {
    const owner = parts.find(({ name }) => name === this.#owners.get(String(uri)));
    return owner ? [owner] : parts;
  }

  /** Asks the server that has it; where nobody is known to, one after the other until one has. */
  async ask<T>(uri: unknown, parts: readonly Part[], action: (part: Part) => Promise<T>): Promise<T> {
    const asked = this.among(uri, parts);
    let refusal: unknown;
    let away: unknown;
    for (const part of asked) {
      try {
        const result = await action(part);
        this.learn(uri, part);
        return result;
      } catch (error) {
        if (isAway(error)) away ??= error;
        else if (isNotThere(error)) refusal ??= error;
        else throw error;
      }
    }
    const nobody = new ProtocolError(ErrorCode.InvalidParams, `No server has ${String(uri)}`, { uri });
    throw refusal ?? away ?? nobody;
  }
}

/** This server does not have it; another may. */
function isNotThere(error: unknown): boolean {
  return error instanceof ProtocolError && NOT_THERE.has(error.code);
}

/** It cannot be asked at the moment. The bridge says why where it was not the server that answered. */
function isAway(error: unknown): boolean {
  if (error instanceof IsthmusError) return true;
  return error instanceof ProtocolError && isJsonObject(error.data) && 'reason' in error.data;
}

const NOT_THERE: ReadonlySet<number> = new Set([
  ErrorCode.InvalidParams,
  ErrorCode.LegacyResourceNotFound,
  ErrorCode.MethodNotFound,
]);
const MAX_KNOWN = 100_000;
