import { ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject } from '../wire/json-rpc.js';

/** The ids of pages that legacy clients were sent to: only they are told when the user is done there (ELIC-027). */
const known = new WeakMap<object, Set<string>>();

export function noteElicitation(owner: object | undefined, id: unknown): void {
  if (!owner || typeof id !== 'string') return;
  let ids = known.get(owner);
  if (!ids) {
    ids = new Set();
    known.set(owner, ids);
  }
  ids.add(id);
  // The oldest is the first.
  if (ids.size > MAX_IDS) for (const oldest of ids) return void ids.delete(oldest);
}

/** Those that a refusal with -32042 names. */
export function noteRefusal(owner: object | undefined, error: unknown): void {
  if (!(error instanceof ProtocolError) || error.code !== ErrorCode.LegacyUrlElicitationRequired) return;
  const list = isJsonObject(error.data) ? error.data['elicitations'] : undefined;
  for (const each of Array.isArray(list) ? list : []) {
    if (isJsonObject(each)) noteElicitation(owner, each['elicitationId']);
  }
}

export function knowsElicitation(owner: object, id: string): boolean {
  return known.get(owner)?.has(id) ?? false;
}

const MAX_IDS = 1000;
