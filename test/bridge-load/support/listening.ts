import { expect } from 'vitest';
import { call, type Near } from '../near/near.js';

/**
 * Has a resource touched until all of these clients have heard of it. A subscription is restored by its own
 * session: when, nobody is told.
 */
export async function touchUntilHeard(near: Near, listeners: readonly Near[]): Promise<void> {
  for (const listener of listeners) listener.heard.length = 0;
  const deaf = () => listeners.flatMap(({ name, heard }) => (heard.includes('memo://1') ? [] : [name]));
  const deadline = Date.now() + 10_000;
  for (let id = 0; deaf().length > 0 && Date.now() < deadline; id += 1) {
    await call(near, `touch ${id}`, 'touch', { uri: 'memo://1' });
  }
  expect(deaf()).toEqual([]);
}
