/** Browsers come back here from the authorization server of the gateway. The callbacks of the servers are below it. */
export const CALLBACK = '/connect/callback';

/** Where browsers come back to from the login at a server. */
export function callbackOf(server: string): string {
  return `${CALLBACK}/${encodeURIComponent(server)}`;
}

export function isCallback(path: string): boolean {
  return path === CALLBACK || path.startsWith(`${CALLBACK}/`);
}

/** Where the document is that describes the gateway as a client of a server. */
export function clientPathOf(server: string): string {
  return `${CLIENT}${encodeURIComponent(server)}`;
}

/**
 * The name that a path of such a document has. There is one for every name, so that it does not tell which servers there are.
 * Undefined: it is another path, or is not written as `clientPathOf` writes it.
 */
export function describedAt(path: string): string | undefined {
  if (!path.startsWith(CLIENT) || path.length > MAX_PATH) return undefined;
  try {
    const name = decodeURIComponent(path.slice(CLIENT.length));
    return name !== '' && clientPathOf(name) === path ? name : undefined;
  } catch {
    return undefined;
  }
}

const CLIENT = '/connect/client/';
const MAX_PATH = 256;
