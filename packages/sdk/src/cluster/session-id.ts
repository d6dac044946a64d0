import { createHash, randomBytes } from 'node:crypto';
import type { ClusterKeys } from './cluster-keys.js';

/** To whom a session id belongs. */
export interface SessionPlace {
  /** The address of the session in each member: the same for all of them. */
  readonly place: string;
  readonly principal: string | undefined;
}

/** `MEMBER.RANDOM.MAC`, 54 characters: the member that opened the session, and a proof that the cluster made the id. */
export function mintSessionId(keys: ClusterKeys, member: string, { place, principal }: SessionPlace): string {
  const random = randomBytes(16).toString('base64url');
  return `${member}.${random}.${proofOf(keys, member, random, place, principal)}`;
}

/** The member that opened the session. Undefined: the id is not of this cluster, place or principal. */
export function openerOf(
  keys: ClusterKeys,
  id: string,
  { place, principal }: SessionPlace,
): string | undefined {
  if (!FORM.test(id)) return undefined;
  const [member, random, mac] = id.split('.') as [string, string, string];
  const proof = Buffer.from(mac, 'base64url');
  return keys.verify('session-id', proof, ...partsOf(member, random, place, principal)) ? member : undefined;
}

/** The name under which the store has a session. The store does not learn the id. */
export function sessionKey(id: string): string {
  return createHash('sha256').update(id).digest().subarray(0, 16).toString('base64url');
}

/** A member is a process from its start to its end. A process that is started again is another member. */
export function newMemberId(): string {
  return Array.from(randomBytes(8), (byte) => ALPHABET[byte & 31]).join('');
}

function proofOf(
  keys: ClusterKeys,
  member: string,
  random: string,
  place: string,
  principal: string | undefined,
): string {
  return keys.mac('session-id', ...partsOf(member, random, place, principal)).toString('base64url');
}

function partsOf(member: string, random: string, place: string, principal: string | undefined): string[] {
  return [member, random, place, principal === undefined ? 'nobody' : 'principal', principal ?? ''];
}

/** The last character of 16 bytes has two bits only, so each proof has one spelling. */
const FORM = /^[a-z2-7]{8}\.[\w-]{22}\.[\w-]{21}[AQgw]$/;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
