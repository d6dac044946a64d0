import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AuditOutcome, CallAudit } from '../audit/audit-record.js';
import { type ConsentPlan, shownScopes } from './browser-logins.js';
import type { ConnectTicket } from './connect-tickets.js';

/**
 * What a person does on the way to a login at a server. `identity`: proves who opened the page. `consent`: lets an application use
 * the login. `login`: logs in at the authorization server of that server.
 */
export type ConnectStep = 'identity' | 'consent' | 'login';

export interface ConnectEnding {
  readonly outcome: Extract<AuditOutcome, 'ok' | 'declined' | 'denied' | 'error'>;
  readonly error?: string | undefined;
  /** Where the browser is, or the application that was asked. */
  readonly remote: string | undefined;
  /** Whoever opened the page, if that is not the caller that the page is for. */
  readonly principal?: string | undefined;
  readonly plan?: ConsentPlan | undefined;
}

/** Writes down how a step ended. All steps for one ticket have the same correlation id. The ticket and its code are secrets. */
export function auditConnect(
  audit: CallAudit | undefined,
  step: ConnectStep,
  { principal, server, clientId, correlationId }: Omit<ConnectTicket, 'id' | 'code'>,
  ending: ConnectEnding,
): void {
  if (!audit?.isActive()) return;
  const { outcome, error, remote, plan } = ending;
  const scopes = plan && shownScopes(plan);
  audit[outcome === 'denied' ? 'refuse' : 'write']({
    time: new Date().toISOString(),
    correlationId,
    principal: 'principal' in ending ? ending.principal : principal,
    ...{ clientId, remote, server, method: `connect/${step}` },
    ...{ tool: undefined, prompt: undefined, uri: undefined },
    ...{ outcome, error, scopes, durationMs: undefined },
  });
}

/** How a login failed, in fixed words: messages may have text of the server. */
export function failureOfLogin(thrown: unknown): Pick<ConnectEnding, 'outcome' | 'error'> {
  if (!(thrown instanceof IsthmusError)) return { outcome: 'error', error: 'INTERNAL' };
  const { cause, code } = thrown;
  const told = isJsonObject(cause) ? String(cause['error']) : '';
  const error = ERROR_CODE.test(told) ? told : code;
  return { outcome: told === 'access_denied' ? 'declined' : 'error', error };
}

/** Codes of OAuth, such as `access_denied`. */
const ERROR_CODE = /^[a-z_]{3,40}$/;
