import { createHash } from 'node:crypto';
import type { ClusterKeys } from '../../cluster/cluster-keys.js';
import { isJsonObject } from '../../wire/json-rpc.js';

/** What one member sends to another: an HTTP request that it has admitted for a client, or a request of its own. */
export interface PeerRequest {
  /** What answers it at the other member: see `PeerServer.handle`. */
  readonly service: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: PeerCaller;
  /** How much the other member does for it. Default: it serves what it has. */
  readonly as?: ServeAs;
}

/**
 * - `client`: it serves the request as if the client had sent it there.
 * - `last`: it ends, and serves the request in a session that it cannot release yet, because a call of it still runs.
 */
export type ServeAs = 'client' | 'last';

/** Whom the sending member has found the client to be. The other member relies on it. */
export interface PeerCaller {
  readonly principal?: string | undefined;
  readonly remote?: string | undefined;
  /** The trusted proxy that has named `remote`. */
  readonly via?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly requiredScopes?: readonly string[] | undefined;
  readonly clientId?: string | undefined;
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** The signed header of a request between members. */
export interface PeerHeader {
  readonly from: string;
  readonly to: string;
  /** Rises with each request of the sender. Each number is accepted once. */
  readonly sequence: number;
  /** Milliseconds since 1970, by the clock of the store. */
  readonly time: number;
  readonly length: number;
  /** SHA-256 of the frame. */
  readonly digest: string;
}

/** The whole body of a request between members: the length of the envelope, the envelope, the body of the client. */
export function encodeFrame(request: PeerRequest, body: Uint8Array | undefined): Buffer {
  const envelope = Buffer.from(JSON.stringify(request));
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(envelope.length);
  return Buffer.concat(body ? [length, envelope, body] : [length, envelope]);
}

/** Only for a frame whose signature was verified. Undefined: a member of another version has made it. */
export function decodeFrame(
  frame: Buffer,
): { readonly request: PeerRequest; readonly body: Buffer } | undefined {
  try {
    const end = 4 + frame.readUInt32BE(0);
    const request: unknown = JSON.parse(frame.toString('utf8', 4, end));
    return isRequest(request) ? { request, body: frame.subarray(end) } : undefined;
  } catch {
    return undefined;
  }
}

function isRequest(given: unknown): given is PeerRequest {
  if (!isJsonObject(given)) return false;
  const { service, method, target, headers, caller } = given;
  const texts = typeof service === 'string' && typeof method === 'string' && typeof target === 'string';
  return texts && isJsonObject(headers) && isJsonObject(caller);
}

export function digestFrame(frame: Uint8Array): string {
  return createHash('sha256').update(frame).digest('base64url');
}

/** The header covers the digest of the frame, so it covers everything. It can be checked before the frame is read. */
export function signHeader(keys: ClusterKeys, header: PeerHeader): string {
  const parts = partsOf(header);
  return [FORMAT, ...parts, keys.mac('peer', REQUEST, ...parts).toString('base64url')].join(' ');
}

/** Undefined for a header that no member has signed. */
export function readHeader(keys: ClusterKeys, text: string | undefined): PeerHeader | undefined {
  const words = (text ?? '').split(' ');
  if (words.length !== 8 || words[0] !== FORMAT) return undefined;
  const parts = words.slice(1, 7);
  if (!keys.verify('peer', Buffer.from(words[7]!, 'base64url'), REQUEST, ...parts)) return undefined;
  const [from, to, sequence, time, length, digest] = parts as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return { from, to, sequence: Number(sequence), time: Number(time), length: Number(length), digest };
}

/** Proves that the answer to this request comes from the member that it was sent to. */
export function proveAnswer(keys: ClusterKeys, { from, to, sequence }: PeerHeader, status: number): string {
  return keys.mac('peer', ANSWER, from, to, String(sequence), String(status)).toString('base64url');
}

export function isProofOf(keys: ClusterKeys, proof: string, header: PeerHeader, status: number): boolean {
  const { from, to, sequence } = header;
  const mac = Buffer.from(proof, 'base64url');
  return keys.verify('peer', mac, ANSWER, from, to, String(sequence), String(status));
}

function partsOf({ from, to, sequence, time, length, digest }: PeerHeader): string[] {
  return [from, to, String(sequence), String(time), String(length), digest];
}

/** Remembers which sequence numbers of each sender were used. A number below the window counts as used. */
export class ReplayGuard {
  readonly #senders = new Map<string, { highest: number; usedAt: number; readonly bits: Uint32Array }>();

  /** `used`: a request with this number has come already. `refused`: it is too old to tell. */
  accept({ from, sequence, time }: PeerHeader, now: number): 'new' | 'used' | 'refused' {
    if (!(Math.abs(now - time) <= MAX_SKEW_MS) || !Number.isSafeInteger(sequence) || sequence < 1)
      return 'refused';
    const sender = this.#sender(from, now);
    if (!sender || sequence <= sender.highest - WINDOW) return 'refused';
    const { bits } = sender;
    sender.usedAt = now;
    if (sequence > sender.highest) {
      const first = Math.max(sender.highest + 1, sequence - WINDOW + 1);
      for (let each = first; each < sequence; each += 1) bits[(each % WINDOW) >> 5]! &= ~(1 << (each & 31));
      sender.highest = sequence;
    } else if (bits[(sequence % WINDOW) >> 5]! & (1 << (sequence & 31))) return 'used';
    bits[(sequence % WINDOW) >> 5]! |= 1 << (sequence & 31);
    return 'new';
  }

  #sender(from: string, now: number) {
    const known = this.#senders.get(from);
    if (known) return known;
    if (this.#senders.size >= MAX_SENDERS) {
      // What such a sender has sent before is too old to be accepted again.
      for (const [id, { usedAt }] of this.#senders)
        if (now - usedAt > 2 * MAX_SKEW_MS) this.#senders.delete(id);
      if (this.#senders.size >= MAX_SENDERS) return undefined;
    }
    const sender = { highest: 0, usedAt: now, bits: new Uint32Array(WINDOW / 32) };
    this.#senders.set(from, sender);
    return sender;
  }
}

/** The header of requests and answers between members. */
export const PEER_HEADER = 'isthmus-peer';
/** The status of a member that does not have what it was asked for. It has done nothing. */
export const NOT_HERE = 421;
/** The status of a request that has come already. It is not served again. */
export const SEEN = 425;
const FORMAT = '1';
const REQUEST = 'request';
const ANSWER = 'answer';
const WINDOW = 65_536;
const MAX_SENDERS = 1024;
/** How old a request may be, by the clock of the store, which all members know. */
const MAX_SKEW_MS = 30_000;
