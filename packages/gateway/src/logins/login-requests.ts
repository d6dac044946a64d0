import type { UrlAuth } from '@isthmus/sdk/internal/config/server-spec.js';
import type { AuthRefusal } from '@isthmus/sdk/internal/transport/http-client/options.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { invalidRequest } from '../control/protocol.js';
import type { LoginEvent, LoginManager, LoginRequest, LoginTarget } from './login-manager.js';

/** Answers a request of the control socket that is about logins. Its sender is a process of this user. */
export async function performLogins(
  logins: LoginManager,
  wanted: string,
  params: JsonObject,
): Promise<unknown> {
  switch (wanted) {
    case 'GET /logins':
      return logins.list();
    case 'POST /logins/authorization':
      return logins.authorization(targetOf(params));
    case 'POST /logins/refused':
      return logins.refused(targetOf(params), refusalOf(params));
    case 'POST /logins/opened':
      return logins.opened(textOf(params, 'url'));
    case 'POST /logins/finish':
      return logins.finish(textOf(params, 'url'), textOf(params, 'response'));
    case 'POST /logins/end':
      return logins.end(
        params['url'] === undefined ? undefined : textOf(params, 'url'),
        params['forgetClient'] === true,
      );
  }
  throw invalidRequest(`This daemon has no ${JSON.stringify(wanted.slice(0, 100))}`, 404);
}

/** The events of a login with a user. */
export function beginLogin(
  logins: LoginManager,
  params: JsonObject,
  signal: AbortSignal,
): AsyncIterable<LoginEvent> {
  const { options, trustedIssuer } = params;
  if (!isJsonObject(options)) throw invalidRequest('"options" must be an object');
  const request: LoginRequest = {
    url: textOf(params, 'url'),
    // `oauth()` checks them.
    options,
    onlyIfNeeded: params['onlyIfNeeded'] === true,
    keep: params['keep'] === true,
    canOpen: params['canOpen'] === true,
    ...(typeof trustedIssuer === 'string' && { trustedIssuer }),
  };
  return logins.begin(request, signal);
}

function targetOf(params: JsonObject): LoginTarget {
  const { auth } = params;
  if (!isJsonObject(auth)) throw invalidRequest('"auth" must be an object');
  return { url: textOf(params, 'url'), auth: auth as unknown as UrlAuth };
}

function refusalOf({ refusal }: JsonObject): AuthRefusal {
  const { status, wwwAuthenticate, authorization, attempt } = isJsonObject(refusal) ? refusal : {};
  if ((status !== 401 && status !== 403) || typeof attempt !== 'number') {
    throw invalidRequest('"refusal" must have a status and an attempt');
  }
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    ...{ status, attempt },
    ...{ wwwAuthenticate: text(wwwAuthenticate), authorization: text(authorization) },
  };
}

function textOf(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value === 'string') return value;
  throw invalidRequest(`"${name}" must be a text`);
}
