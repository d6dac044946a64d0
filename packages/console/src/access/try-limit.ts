import { isIP } from 'node:net';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import {
  forwardedFor,
  type ProxyTrust,
} from '@isthmus/sdk/internal/transport/http-server/admission/trust-proxy.js';

/** Whom wrong keys are counted for. */
export interface RequestSource {
  readonly address: string;
  /** Many people have this address: it is that of a proxy, or of this machine. */
  readonly isShared: boolean;
}

/**
 * Wrong keys: five in a minute from one address. A right one is not counted. For an address that many people share the
 * bound is 600, so that the mistakes of one person do not keep the others out.
 */
export class TryLimit {
  readonly #clock: Clock;
  readonly #failures = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  mayTry({ address, isShared }: RequestSource): boolean {
    return this.#recent(address).length < (isShared ? MAX_SHARED_TRIES : MAX_TRIES);
  }

  fail({ address }: RequestSource): void {
    const recent = this.#recent(address);
    // The last one to fail is the last to be forgotten.
    this.#failures.delete(address);
    this.#failures.set(address, [...recent, this.#clock.now()]);
    if (this.#failures.size > MAX_ADDRESSES) this.#failures.delete(this.#failures.keys().next().value!);
  }

  #recent(address: string): number[] {
    const since = this.#clock.now() - MINUTE_MS;
    return (this.#failures.get(address) ?? []).filter((at) => at > since);
  }
}

/** Where a request comes from, as a trusted proxy says it. */
export function sourceOf(request: RequestHead, trusts: ProxyTrust | undefined): RequestSource {
  const { remote = '' } = request;
  // Without a proxy that is trusted, anything may be in front.
  if (!trusts) return { address: remote, isShared: true };
  if (!trusts(remote)) return { address: networkOf(remote), isShared: LOOPBACK.test(remote) };
  const client = forwardedFor(request, trusts);
  if (client === undefined) return { address: remote, isShared: true };
  return { address: networkOf(client), isShared: false };
}

/** One person has 2^64 addresses of IPv6, which begin alike. */
function networkOf(address: string): string {
  if (isIP(address) !== 6 || address.toLowerCase().startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined ? first : [...first, ...Array(8 - first.length - last.length).fill('0'), ...last];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

interface RequestHead {
  readonly remote: string | undefined;
  header(name: string): string | undefined;
}

const MINUTE_MS = 60_000;
const MAX_TRIES = 5;
const MAX_SHARED_TRIES = 600;
const MAX_ADDRESSES = 10_000;
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
