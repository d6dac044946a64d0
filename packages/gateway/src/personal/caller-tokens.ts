import { AsyncLocalStorage } from 'node:async_hooks';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import type { Authenticate } from '@isthmus/sdk/internal/transport/http-server/options.js';
import { readCredentials } from '../auth/credentials.js';

/**
 * The tokens of the callers, for servers whose tokens are exchanged for them. They are kept in memory, one for each principal,
 * and only while such a server is configured.
 */
export class CallerTokens {
  /** A gateway without such servers keeps no tokens. */
  isUsed = false;
  readonly #latest = new ByPrincipal<{ token: string }>(() => ({ token: '' }), MAX_CALLERS);
  /** The token of the call that is being made. Two clients of one principal may have tokens with different scopes. */
  readonly #current = new AsyncLocalStorage<{ readonly principal: string; readonly token: string }>();

  /** The same hook. It also remembers the token of each caller that it accepts. */
  watch(authenticate: Authenticate): Authenticate {
    return async (request) => {
      const verdict = await authenticate(request);
      const principal =
        typeof verdict === 'string' ? verdict : verdict && 'principal' in verdict && verdict.principal;
      if (this.isUsed && principal) this.#note(principal, readCredentials(request).bearer);
      return verdict;
    };
  }

  /** Runs the work with the token of this call. */
  during<T>({ peer, request }: Call, work: () => T): T {
    const { principal } = peer;
    const { bearer } = readCredentials({ header: (name) => request?.headers[name] });
    if (principal === undefined || bearer === undefined || isKey(principal)) return work();
    return this.#current.run({ principal, token: bearer }, work);
  }

  /** The token of the call that is being made, or else the last one of this principal. */
  of(principal: string): string | undefined {
    const current = this.#current.getStore();
    return current?.principal === principal ? current.token : this.#latest.get(principal)?.token;
  }

  get size(): number {
    return this.#latest.size;
  }

  #note(principal: string, token: string | undefined): void {
    if (token !== undefined && !isKey(principal)) this.#latest.of(principal).token = token;
  }
}

/** A key of the gateway is a secret of its own. It never goes to an authorization server. */
function isKey(principal: string): boolean {
  return principal.startsWith('key:');
}

export const MAX_CALLERS = 10_000;
