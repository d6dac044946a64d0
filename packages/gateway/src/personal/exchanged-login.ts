import { createHash } from 'node:crypto';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import type { LoginChallenge } from '@isthmus/sdk/internal/oauth/discovery/challenge.js';
import { loginChallenge } from '@isthmus/sdk/internal/oauth/discovery/challenge.js';
import { outageOf } from '@isthmus/sdk/internal/oauth/discovery/oauth-http.js';
import type { GrantedToken } from '@isthmus/sdk/internal/oauth/token-endpoint.js';
import type { AuthRefusal, ServerAuth } from '@isthmus/sdk/internal/transport/http-client/options.js';
import type { PersonalLoginStatus } from './personal-logins.js';

export interface ExchangedLoginOptions {
  readonly server: string;
  readonly principal: string;
  /** The token of the caller, for this gateway. */
  subject(): string | undefined;
  exchange(subject: string, challenge?: LoginChallenge): Promise<GrantedToken>;
  readonly clock: Clock;
}

/**
 * The tokens of one principal for one server, each got in exchange for a token of that principal. A token is only used for
 * calls that came with the token that it was got for: another client of the same person may be allowed less.
 */
export class ExchangedLogin implements ServerAuth {
  readonly #options: ExchangedLoginOptions;
  /** By the hash of the caller's token. */
  readonly #kept = new Map<string, Exchanged>();
  #last: PersonalLoginStatus;

  constructor(options: ExchangedLoginOptions) {
    this.#options = options;
    this.#last = { principal: options.principal, state: 'valid' };
  }

  get status(): PersonalLoginStatus {
    return this.#last;
  }

  authorization(): string | Promise<string> {
    const { subject, key } = this.#subject();
    const known = this.#kept.get(key);
    const now = this.#options.clock.now();
    if (known?.header !== undefined && now < known.until) return known.header;
    // A refusal is not asked for again with every call.
    if (known?.refusal && now < known.until) throw known.refusal;
    return known?.under ?? this.#exchange(subject, key, undefined);
  }

  /** Another token once for a 401, and one with more scopes once for a 403. */
  async refused({ status, wwwAuthenticate, authorization, attempt }: AuthRefusal): Promise<boolean> {
    const challenge = loginChallenge(wwwAuthenticate);
    const isStepUp = status === 403;
    if (attempt > 0 || (isStepUp && challenge?.error !== 'insufficient_scope')) return false;
    const { subject, key } = this.#subject();
    const known = this.#kept.get(key);
    if (known?.header !== undefined && known.header !== authorization) return true;
    await (known?.under ?? this.#exchange(subject, key, challenge));
    return true;
  }

  #subject(): { readonly subject: string; readonly key: string } {
    const { server, principal } = this.#options;
    const subject = this.#options.subject();
    if (subject !== undefined)
      return { subject, key: createHash('sha256').update(subject).digest('base64url') };
    const message = `${server} needs the token of its caller for an exchange, and ${principal} has none`;
    throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no', status: 401 });
  }

  #exchange(subject: string, key: string, challenge: LoginChallenge | undefined): Promise<string> {
    const { clock, principal } = this.#options;
    const under = this.#options.exchange(subject, challenge).then(
      ({ access, expiresAt = clock.now() + UNKNOWN_LIFE_MS, obtainedAt }) => {
        const header = `Bearer ${access}`;
        const until = expiresAt - Math.min(60_000, (expiresAt - obtainedAt) / 10);
        this.#keep(key, { header, until });
        this.#last = { principal, state: 'valid' };
        return header;
      },
      (error: unknown) => {
        const isDown = outageOf(error) !== undefined;
        const until = clock.now() + (isDown ? OUTAGE_MS : REFUSAL_MS);
        this.#keep(key, { refusal: error, until });
        this.#last = { principal, state: isDown ? 'failed' : 'needs-login', reason: messageOf(error) };
        throw error;
      },
    );
    this.#keep(key, { under, until: 0 });
    return under;
  }

  #keep(key: string, exchanged: Exchanged): void {
    this.#kept.delete(key);
    this.#kept.set(key, exchanged);
    if (this.#kept.size > MAX_TOKENS) this.#kept.delete(this.#kept.keys().next().value!);
  }
}

interface Exchanged {
  readonly under?: Promise<string>;
  readonly header?: string;
  readonly refusal?: unknown;
  /** Until when the header, or the refusal, is used. */
  readonly until: number;
}

/** Of one principal, for one server. A person has few clients at a time. */
const MAX_TOKENS = 8;
/** For an authorization server that does not say how long a token lives. */
const UNKNOWN_LIFE_MS = 60_000;
const REFUSAL_MS = 5000;
const OUTAGE_MS = 1000;
