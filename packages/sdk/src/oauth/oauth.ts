import { IsthmusError } from '../errors.js';
import type { HttpAuth } from '../transport/http-client/options.js';
import { CLIENT_CREDENTIALS, httpUrl } from '../transport/http-client/options.js';
import { paramsOf } from './callback-listener.js';
import { type OAuthOptions, type OAuthSettings, resolveOAuth } from './options.js';
import type { ServerLogin } from './server-login.js';

/** Logs in to servers. Give it to `http()`. */
export interface OAuth extends HttpAuth {
  /** The login for one server: begin it, look at it, end it. */
  login(url: string | URL): Promise<ServerLogin>;
  /** Gives the response of a browser that came back to `callback.url`. */
  finish(response: string | URL | URLSearchParams): void;
}

/**
 * Logs in to servers that need OAuth. Stored logins are used and renewed. A new one is begun only where `open` allows it.
 *
 * ```ts
 * const client = await connect(http('https://example.com/mcp', { auth: oauth({ open: (url) => console.log(url.href) }) }));
 * ```
 */
export function oauth(options: OAuthOptions = {}): OAuth {
  const settings = resolveOAuth(options);
  return loginsWith(() => settings, settings.grant === 'client-credentials' ? CLIENT_CREDENTIALS : undefined);
}

/** Logins whose settings are made for each server. */
export function loginsWith(
  settingsOf: (server: URL) => OAuthSettings | Promise<OAuthSettings>,
  extensions: HttpAuth['extensions'],
): OAuth {
  /** By URL. Servers of one program share one login each. */
  const logins = new Map<string, Promise<ServerLogin>>();
  const opened: ServerLogin[] = [];
  const loginOf = (url: URL): Promise<ServerLogin> => {
    const known = logins.get(url.href);
    if (known) return known;
    // Loaded with the first request, so that programs without logins do not load it.
    const loading = import('./server-login.js').then(async (module) => {
      const login = new module.ServerLogin(url, await settingsOf(url));
      opened.push(login);
      return login;
    });
    logins.set(url.href, loading);
    loading.catch(() => logins.delete(url.href));
    return loading;
  };
  return {
    extensions,
    login: (url) => loginOf(httpUrl(url)),
    finish(response) {
      const params = paramsOf(response);
      // Several logins may wait. The state says which one is meant.
      const waiting = opened.filter((login) => login.waitsFor !== undefined);
      const meant = waiting.find((login) => login.waitsFor === params.get('state'));
      if (meant) return meant.finish(params);
      const message =
        waiting.length > 0 ? 'The response belongs to no login that waits' : 'No login waits for a response';
      throw new IsthmusError('INVALID_OPTION', message, { sent: 'no' });
    },
    forServer: loginOf,
  };
}
