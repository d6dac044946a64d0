import { IsthmusError } from '../errors.js';
import type { LoginChallenge } from './discovery/challenge.js';
import type { LoginFacts } from './discovery/login-facts.js';
import { toldText } from './login-status.js';
import type { OAuthSettings } from './options.js';
import type { LoginRecord } from './store/login-record.js';

/** Counts what a server makes a user do, so that it cannot ask again and again. */
export class LoginLimits {
  readonly #name: string;
  readonly #settings: OAuthSettings;
  #begun: readonly number[] = [];
  /** When logins for more scopes were begun, by scopes. */
  readonly #stepUps = new Map<string, readonly number[]>();

  constructor(server: URL, settings: OAuthSettings) {
    this.#name = `${server.origin}${server.pathname}`;
    this.#settings = settings;
  }

  /** Throws where no login may begin: only a program or a person begins one. Client credentials have no user to protect. */
  begin(reason: string | undefined, challenge: LoginChallenge | undefined): void {
    const { grant, open, ask, loginHint } = this.#settings;
    if (grant === 'client-credentials') return;
    const canAsk =
      open !== undefined || ask.callback !== undefined || (grant === 'device-code' && ask.showCode);
    if (!canAsk) {
      const scopes = challenge?.scopes ?? [];
      // The page of a plain login asks for what the server wants first. More scopes have to be named.
      const isMore = challenge?.error === 'insufficient_scope' && scopes.length > 0;
      const hint = typeof loginHint === 'function' ? loginHint(isMore ? scopes : []) : loginHint;
      const why = reason === undefined ? '' : ` (${reason})`;
      const forWhat = scopes.length > 0 ? ` for ${toldText(scopes.join(', '))}` : '';
      const message = `${this.#name} needs a login${forWhat}${why}${hint ? `: ${hint}` : ''}`;
      throw refused(message).with({ scopes: isMore ? scopes : undefined });
    }
    this.#begun = this.#recent(this.#begun);
    if (this.#begun.length >= MAX_LOGINS) {
      throw refused(`${this.#name} refused ${MAX_LOGINS} new logins within 10 minutes`);
    }
    this.#begun = [...this.#begun, this.#settings.clock.now()];
  }

  /** Whether one more login for these scopes may begin. */
  mayStepUp(scopes: readonly string[]): boolean {
    for (const [each, times] of this.#stepUps) {
      if (this.#recent(times).length === 0) this.#stepUps.delete(each);
    }
    const key = [...scopes].sort().join(' ');
    const before = this.#recent(this.#stepUps.get(key) ?? []);
    // A server that asks for other scopes each time must not fill the memory.
    if (before.length >= MAX_STEP_UPS || this.#stepUps.size >= MAX_SCOPE_SETS) return false;
    this.#stepUps.set(key, [...before, this.#settings.clock.now()]);
    return true;
  }

  #recent(times: readonly number[]): readonly number[] {
    const now = this.#settings.clock.now();
    return times.filter((at) => now - at < WITHIN_MS);
  }
}

/**
 * The scopes to ask for. First: the configured ones, else those of the challenge, else what the server lists (AUTH-C-053).
 * More: those, what was asked for before, and what the challenge wants (AUTH-C-081).
 */
export function scopesToAsk(
  { metadata, published }: LoginFacts,
  challenge: LoginChallenge | undefined,
  stored: LoginRecord | undefined,
  { scopes: configured, offlineAccess }: OAuthSettings,
): readonly string[] {
  const challenged = challenge?.scopes ?? [];
  const before = stored?.issuer === metadata.issuer ? (stored.token?.requestedScopes ?? []) : [];
  const listed = configured || challenged.length > 0 ? [] : (published?.scopesSupported ?? []);
  const earlier = configured && !challenge ? [] : before;
  const wanted = new Set([...(configured ?? []), ...earlier, ...challenged, ...listed]);
  if (wanted.size > 0 && offlineAccess && metadata.scopesSupported?.includes('offline_access')) {
    wanted.add('offline_access');
  }
  return [...wanted];
}

function refused(message: string): IsthmusError {
  return new IsthmusError('UNAUTHORIZED', message, { sent: 'no', status: 401 });
}

const MAX_STEP_UPS = 2;
/** Different sets of scopes within the time. No server of good faith comes near it. */
const MAX_SCOPE_SETS = 64;
const MAX_LOGINS = 3;
const WITHIN_MS = 600_000;
