import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A path inside the checkout. */
export function inRoot(...parts) {
  return join(root, ...parts);
}
