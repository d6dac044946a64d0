import { given, type ServerSpec, type UrlAuth, type UrlSpec } from '../config/server-spec.js';
import type { Connector } from '../exchange/connection.js';
import { connectorFor } from '../transport/address.js';
import { httpConnector } from '../transport/http-client/connector.js';
import type { HttpAuth, HttpConnectOptions } from '../transport/http-client/options.js';
import { stdio } from '../transport/stdio.js';
import { commandOptionsOf } from './definition.js';

export interface SpecConnectorOptions extends Pick<HttpConnectOptions, 'onWarning'> {
  /** Used in errors. Default: the command line or the address, which may contain secrets. */
  readonly label?: string;
}

/** Opens connections to a server. Each connection to a command starts a new process. */
export function connectorOfSpec(spec: ServerSpec, options: SpecConnectorOptions = {}): Connector {
  const { label, onWarning } = options;
  if (spec.kind === 'command')
    return stdio({ ...commandOptionsOf(spec), ...(label !== undefined && { label }) });
  const connector =
    spec.kind === 'url'
      ? httpConnector(spec.url, {
          ...httpOptionsOf(spec),
          ...(onWarning && { onWarning }),
          ...(spec.auth && { auth: specAuth(spec.auth, onWarning) }),
        })
      : connectorFor(spec.address);
  return label === undefined ? connector : { ...connector, label };
}

/** A spec names its limits as for a process; the HTTP client has other names for them. */
export function httpOptionsOf({
  headers,
  transport,
  maxLineBytes,
  maxInFlight,
}: UrlSpec): HttpConnectOptions {
  const sse = SSE[transport];
  return { headers, sse, ...given({ maxAnswerBytes: maxLineBytes, maxConcurrent: maxInFlight }) };
}

/** Loads what a login needs with the first request. */
export function specAuth(auth: UrlAuth, onWarning?: (warning: string) => void): HttpAuth {
  return {
    async forServer(url) {
      const { oauth } = await import('../oauth/oauth.js');
      const { userLoginStore } = await import('../oauth/store/user-logins.js');
      const { mode, ...rest } = auth;
      return oauth({
        ...rest,
        ...(mode === 'client-credentials' && { grant: mode }),
        ...(onWarning && { onWarning }),
        store: userLoginStore(),
        loginHint: loginCommand(url.href),
      }).forServer(url);
    },
  };
}

/** What the user of a server without a login can type. The query may hold secrets. */
export function loginCommand(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `isthmus login ${origin}${pathname}${search === '' ? '' : '?…'}`;
}

const SSE = { auto: 'auto', http: 'auto', 'http-only': 'never', sse: 'only' } as const;
