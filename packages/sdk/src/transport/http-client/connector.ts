import type { Connector } from '../../exchange/connection.js';
import { LazyLine } from '../../exchange/tap.js';
import type { HttpConnection } from './connection.js';
import { type Dispatch, fetchDispatch, undiciDispatch } from './dispatch.js';
import { type HttpConnectOptions, httpUrl, nameOf, resolveHttp } from './options.js';
import { Credentials, RetryingHttp } from './retrying-http.js';

/** Loaded where a tap is given. */
async function tappedDispatch(dispatch: Dispatch, tapped: LazyLine): Promise<Dispatch> {
  const { tapDispatch } = await import('../tap-dispatch.js');
  return tapDispatch(dispatch, tapped);
}

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
    isRemote: true,
    extensions: credentials.extensions,
    async connect(): Promise<HttpConnection> {
      // Loaded with the first connection. All connections of this connector share the pools of the HTTP client.
      dispatch ??= settings.fetch ? Promise.resolve(fetchDispatch(settings.fetch)) : undiciDispatch(settings);
      const { HttpConnection } = await import('./connection.js');
      const tapped =
        settings.tap && new LazyLine(settings.tap, { label, side: 'upstream', transport: 'http' });
      const send = tapped ? await tappedDispatch(await dispatch, tapped) : await dispatch;
      const http = new RetryingHttp(label, send, credentials, settings);
      return new HttpConnection(http, url, settings, tapped);
    },
  };
}
