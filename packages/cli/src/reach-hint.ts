import { IsthmusError } from '@isthmus/sdk/internal/errors.js';

/** What to do about a failure on the way to a URL that says itself where it lies; undefined for all others. Pure. */
export function reachHint(error: unknown): string | undefined {
  if (!(error instanceof IsthmusError)) return undefined;
  const { message, code, status } = error;
  if (code === 'ADDRESS_UNAVAILABLE') return proxyHint(message) ?? certificateHint(message);
  const host = status === 403 ? refusedHost(message) : undefined;
  if (host === undefined) return undefined;
  const name = host === '' ? 'HOST' : host;
  return `The server does not know the host name that it was called by. If it is isthmus serve, start it with --allow-host ${name}; behind a proxy, let the proxy pass on the Host that the server expects`;
}

function proxyHint(message: string): string | undefined {
  const variable = / through the proxy .*?\((\w+)\): /.exec(message.slice(0, MAX_MESSAGE))?.[1];
  return variable === undefined
    ? undefined
    : `Is the proxy running? Without ${variable}, or with the host in NO_PROXY, the connection is direct`;
}

function certificateHint(message: string): string | undefined {
  if (!message.includes('its certificate is not trusted')) return undefined;
  return 'The server answers. Make the certificate of its authority known: NODE_EXTRA_CA_CERTS=FILE.pem in the environment; for another host name, use the one in the certificate';
}

/** Ours, and those of the official SDKs (`Invalid Host: x`, `Invalid Host header: x`); empty where it is not named. */
function refusedHost(message: string): string | undefined {
  const text = message.slice(0, MAX_MESSAGE);
  const ours = /The host (\S+) is not served here/.exec(text)?.[1];
  if (ours !== undefined) return ours.replace(/:\d+$/, '');
  return /invalid host/i.test(text)
    ? (/invalid host[^:]{0,20}: ?([\w.-]+)/i.exec(text)?.[1] ?? '')
    : undefined;
}

const MAX_MESSAGE = 2000;
