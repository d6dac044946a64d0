import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { ClientCapabilities, Implementation } from '../../wire/model.js';
import { keepMetaText } from '../../wire/small-text.js';
import { META } from '../meta-keys.js';

/** The `_meta` of every modern request; also used by the probe. */
export function envelope(
  who: { readonly info: Implementation; readonly capabilities: ClientCapabilities },
  revision: string,
): JsonObject {
  return {
    [META.protocolVersion]: revision,
    [META.clientInfo]: who.info,
    [META.clientCapabilities]: who.capabilities,
  };
}

/**
 * The envelopes of the clients that a bridge makes requests for. Each request of a modern client says anew who it is, and
 * says the same: its envelope is made and written once. It is a copy, since a program may change what it was made of.
 */
export class ClientEnvelopes {
  readonly #revision: string;
  readonly #kept = new Map<string, JsonObject>();

  constructor(revision: string) {
    this.#revision = revision;
  }

  of(info: Implementation, capabilities: ClientCapabilities): JsonObject {
    const known = this.#kept.get(info.name);
    const isKnown =
      known !== undefined &&
      isSame(known[META.clientInfo], info) &&
      isSame(known[META.clientCapabilities], capabilities);
    if (isKnown) return known;
    const made = envelope({ info, capabilities }, this.#revision);
    // Clients of one name that differ are not kept in turn.
    return known === undefined ? this.#keep(info.name, made) : made;
  }

  #keep(name: string, made: JsonObject): JsonObject {
    const text = JSON.stringify(made);
    if (text.length > MAX_LENGTH) return made;
    if (this.#kept.size === MAX_KEPT) this.#kept.clear();
    const own = JSON.parse(text) as JsonObject;
    keepMetaText(own, text);
    this.#kept.set(name, own);
    return own;
  }
}

/** Compares JSON: names, values, and not the order of names. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  }
  if (!isJsonObject(a) || !isJsonObject(b) || Array.isArray(b)) return false;
  for (const name in b) if (!Object.hasOwn(a, name)) return false;
  for (const name in a) if (!isSame(a[name], b[name])) return false;
  return true;
}

/** So many clients are kept, with envelopes of at most so many characters. */
const MAX_KEPT = 64;
const MAX_LENGTH = 2048;
