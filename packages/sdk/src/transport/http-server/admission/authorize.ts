import { isThenable } from '../../../async/deferred.js';
import { decodeLine } from '../../../wire/codec.js';
import { ErrorCode } from '../../../wire/error-codes.js';
import type { Decoded, JsonObject, RequestId } from '../../../wire/json-rpc.js';
import { type AdmittedRequest, respondError, respondInternalError } from '../exchange/admitted-request.js';
import type { Grant, HttpEndpointSettings, Refusal } from '../options.js';
import { isJson } from './guard.js';
import { readBody } from './request-limits.js';
import { metadataParameter } from './resource-metadata.js';

/** Decides what a known caller may do, after the body of the request was read and before anything is done with it. */
export interface Authorize {
  /** True while everything is allowed: then nothing is put together for a decision. */
  isIdle?(): boolean;
  /** Undefined: the request is allowed. */
  decide(request: AccessRequest): Denial | undefined | Promise<Denial | undefined>;
  /** The scopes for basic use. They are in the metadata, and in the challenge to a caller without a token. */
  basicScopes?(): readonly string[];
  /** Told of a request that was refused before anything could be decided. Returns the id by which the log knows it. */
  onRefused?(refused: RefusedRequest): string | undefined;
}

/** A request that was refused with 401 or 403, for its credential, its host or its origin. */
export interface RefusedRequest extends Pick<Refusal, 'scopes' | 'caller'> {
  readonly status: 401 | 403;
  /** Fixed words: nothing of the request is in them. */
  readonly why: string;
  readonly remote: string | undefined;
  header(name: string): string | undefined;
}

/** What is decided about: who asks, with what, for which messages. */
export interface AccessRequest {
  readonly principal: string | undefined;
  /** What the credential says. Undefined for a key. */
  readonly grant: Grant | undefined;
  /** The requests and notifications of the body. Empty for a stream of a session, and for answers to questions. */
  readonly messages: readonly RequestedMessage[];
  readonly remote: string | undefined;
  header(name: string): string | undefined;
}

export interface RequestedMessage {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** Why a request is refused with 403. */
export interface Denial {
  /** All scopes that the request needs. Undefined: a token with more scopes would not help. */
  readonly scopes?: readonly string[] | undefined;
  readonly why: string;
  /** Names the refusal in the audit log. */
  readonly correlationId?: string | undefined;
}

/** False while every caller may do everything. */
export function mustDecide({ authorize }: Pick<HttpEndpointSettings, 'authorize'>): boolean {
  return authorize !== undefined && !authorize.isIdle?.();
}

/** Calls `go` if the request is allowed. Otherwise the client gets 403 with one complete challenge (AUTH-S-007, S-008). */
export function authorizeRequest(
  admitted: AdmittedRequest,
  settings: HttpEndpointSettings,
  message: Decoded | undefined,
  go: () => void,
): void {
  decideRequest(admitted, settings, message, (denial) => {
    if (denial) deny(admitted, settings, message, denial);
    else go();
  });
}

/**
 * Refuses a caller whose credential has not all scopes that every request needs. The challenge also names those that the
 * messages of this request need (AUTH-S-008), so its body is read. `refuse`: refuses it for what every request needs alone.
 */
export function refuseLacking(
  admitted: AdmittedRequest,
  settings: HttpEndpointSettings,
  refuse: () => void,
): void {
  const { exchange } = admitted;
  const follow = (message: Decoded | undefined): void =>
    decideRequest(admitted, settings, message, (denial) => {
      if (denial) deny(admitted, settings, message, denial);
      else refuse();
    });
  const hasMessages = exchange.method === 'POST' && isJson(exchange.header('content-type'));
  if (!hasMessages || !mustDecide(settings)) return follow(undefined);
  readBody(admitted, settings, (bytes) => follow(decodeLine(bytes)));
}

function decideRequest(
  admitted: AdmittedRequest,
  settings: HttpEndpointSettings,
  message: Decoded | undefined,
  follow: (denial: Denial | undefined) => void,
): void {
  if (!mustDecide(settings)) return follow(undefined);
  const { principal, grant, exchange } = admitted;
  const denial = settings.authorize!.decide({
    ...{ principal, grant, messages: message ? messagesOf(message) : [], remote: exchange.remote },
    header: (name) => exchange.header(name.toLowerCase()),
  });
  if (!isThenable(denial)) return follow(denial);
  denial.then(follow).catch(() => respondInternalError(exchange));
}

function messagesOf(message: Decoded): readonly RequestedMessage[] {
  const items = message.kind === 'batch' ? message.items : [message];
  return items.flatMap((item) => (item.kind === 'request' || item.kind === 'notification' ? [item] : []));
}

function deny(
  admitted: AdmittedRequest,
  settings: HttpEndpointSettings,
  message: Decoded | undefined,
  { scopes, why, correlationId }: Denial,
): void {
  const id: RequestId | undefined = message?.kind === 'request' ? message.id : undefined;
  const data = {
    reason: scopes ? 'INSUFFICIENT_SCOPE' : 'DENIED',
    sent: 'no',
    ...(scopes && { scopes }),
    ...(correlationId !== undefined && { correlationId }),
  };
  const error = { code: ErrorCode.InvalidRequest, message: why, data };
  if (!scopes) return respondError(admitted, 403, id, error);
  const challenge = [
    'error="insufficient_scope"',
    `scope="${scopes.join(' ')}"`,
    ...metadataParameter(admitted.exchange, settings),
    `error_description="${why.replace(/[^\x20-\x7e]|["\\]/g, '')}"`,
  ].join(', ');
  const headers = { ...admitted.headers, 'www-authenticate': `Bearer ${challenge}` };
  respondError({ exchange: admitted.exchange, headers }, 403, id, error);
}
