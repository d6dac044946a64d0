import type { GrantedExchange } from './granted-exchange.js';
import type { CredentialState, Grant } from './options.js';

/** The open streams of callers whose tokens can end: looked after from time to time. */
export class GrantWatch {
  readonly #open = new Set<GrantedExchange>();
  #reviewing = false;

  add(exchange: GrantedExchange): void {
    this.#open.add(exchange);
  }

  delete(exchange: GrantedExchange): void {
    this.#open.delete(exchange);
  }

  /** Ends the streams of tokens that have expired, and all that revoked tokens have opened. */
  async review(sessions: Iterable<GrantedSession>): Promise<void> {
    // One look at a time, however long a file takes to be read.
    if (this.#reviewing) return;
    this.#reviewing = true;
    try {
      for (const exchange of [...this.#open]) {
        const standing = await standingOf(exchange.grant);
        if (standing === 'revoked' || (standing === 'expired' && exchange.isSubscription)) {
          exchange.end(ENDED[standing]);
        }
      }
      // A session whose token has expired waits for its client to come back with a fresh one.
      for (const session of [...sessions]) {
        if (session.grant && (await standingOf(session.grant)) === 'revoked') session.close();
      }
    } finally {
      this.#reviewing = false;
    }
  }
}

export interface GrantedSession {
  /** What its last request was allowed with. */
  readonly grant: Grant | undefined;
  close(): void;
}

/** What cannot be found out at the moment changes nothing. */
async function standingOf(grant: Grant): Promise<CredentialState> {
  try {
    return (await grant.standing?.()) ?? 'good';
  } catch {
    return 'good';
  }
}

const ENDED = {
  expired: 'the token has expired: authorize again',
  revoked: 'the token was revoked: authorize again',
} as const;
