import { createHash } from 'node:crypto';

/**
 * Chooses one of several members for a key, the same at each member that knows the same members. When a member comes or
 * goes, only the keys that it gets or had are chosen anew (rendezvous hashing).
 */
export function chooseMember(key: string, members: readonly string[]): string | undefined {
  let [chosen, highest]: [string | undefined, bigint] = [undefined, -1n];
  for (const member of members) {
    const score = createHash('sha256').update(`${member}\n${key}`).digest().readBigUInt64BE(0);
    if (score > highest) [chosen, highest] = [member, score];
  }
  return chosen;
}
