import type { Connector } from '../../exchange/connection.js';
import type { HttpConnection } from './connection.js';
import { type Dispatch, fetchDispatch, undiciDispatch } from './dispatch.js';
import { type HttpConnectOptions, httpUrl, nameOf, resolveHttp } from './options.js';
import { Credentials, RetryingHttp } from './retrying-http.js';

/** Connects to the server at a URL, in either era and over any of the three HTTP transports. */
export function httpConnector(address: string | URL, options: HttpConnectOptions = {}): Connector {
  const url = httpUrl(address);
  const settings = resolveHttp(options);
  const label = nameOf(url);
  const credentials = new Credentials(settings, url);
  let dispatch: Promise<Dispatch> | undefined;
  return {
    label,
    identity: label,
    async connect(): Promise<HttpConnection> {
      // Loaded with the first connection. All connections of this connector share the pools of the HTTP client.
      dispatch ??= settings.fetch ? Promise.resolve(fetchDispatch(settings.fetch)) : undiciDispatch(settings);
      const { HttpConnection } = await import('./connection.js');
      return new HttpConnection(
        new RetryingHttp(label, await dispatch, credentials, settings),
        url,
        settings,
      );
    },
  };
}
