import { hkdfSync } from 'node:crypto';

/**
 * The keys of one place of a gateway (the main path, or one server), made from those of the operator. So a state that
 * one server has given out cannot be brought to another, and all replicas still agree.
 */
export function placeKeys(
  keys: readonly string[] | undefined,
  place: string,
): { readonly stateKey?: readonly Uint8Array[] } {
  if (!keys) return {};
  const derive = (key: string) =>
    new Uint8Array(
      hkdfSync('sha256', Buffer.from(key, 'base64url'), '', `isthmus request-state ${place}`, 32),
    );
  return { stateKey: keys.map(derive) };
}
