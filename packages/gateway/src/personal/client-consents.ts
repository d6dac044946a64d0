import { createHash } from 'node:crypto';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { LoginRecord } from '@isthmus/sdk/internal/oauth/store/login-record.js';
import type { LoginsOfCallers } from '../connect/sealed-logins.js';
import { MAX_CALLERS } from './caller-tokens.js';

/**
 * The OAuth clients that may use the login of a person at one server (AUTH-G-004, AUTH-G-006). The gateway is one client there,
 * whatever client calls it, so the authorization server of that server cannot ask this.
 *
 * A consent is kept where the logins are, as a login without a token.
 */
export class ClientConsents {
  readonly #server: string;
  readonly #logins: LoginsOfCallers;
  readonly #known = new ByPrincipal<Set<string>>(() => new Set(), MAX_CALLERS);

  constructor(server: string, logins: LoginsOfCallers) {
    this.#server = server;
    this.#logins = logins;
  }

  /** `clientId`: undefined for a credential that says nothing of its client. */
  async has(principal: string, clientId = ''): Promise<boolean> {
    const known = this.#known.of(principal);
    if (known.has(clientId)) return true;
    const record = await this.#logins.of(principal).read(this.#keyOf(clientId));
    if (record?.reason !== REASON) return false;
    if (known.size >= MAX_CLIENTS) known.clear();
    known.add(clientId);
    return true;
  }

  async add(principal: string, clientId = ''): Promise<void> {
    const nothing = { resource: undefined, revocationEndpoint: undefined, token: undefined };
    const record: LoginRecord = {
      ...{ v: 1, server: this.#server, issuer: '', tokenEndpoint: '', ...nothing, reason: REASON },
      client: {
        ...{ kind: 'preregistered', id: clientId, secret: undefined, authMethod: 'none' },
        ...{ redirectUri: undefined, expiresAt: undefined },
      },
    };
    await this.#logins.of(principal).write(this.#keyOf(clientId), record);
  }

  #keyOf(clientId: string): string {
    const text = JSON.stringify([REASON, this.#server, clientId]);
    return createHash('sha256').update(text).digest('hex').slice(0, 32);
  }
}

const REASON = 'consent of a client';
/** Of one person, in memory. */
const MAX_CLIENTS = 100;
