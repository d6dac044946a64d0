/** How the tools and prompts of several servers are told apart: `weather__forecast`. */
export function toPrefixed(separator: string, server: string, name: string): string {
  return `${server}${separator}${name}`;
}

/** The server that a name belongs to, and what it is called there. The longest name wins: `a` and `a__b` are two. */
export function fromPrefixed(
  separator: string,
  servers: Iterable<string>,
  prefixed: string,
): { readonly server: string; readonly name: string } | undefined {
  let found: { readonly server: string; readonly name: string } | undefined;
  for (const server of servers) {
    const prefix = `${server}${separator}`;
    const isLonger = found === undefined || server.length > found.server.length;
    if (isLonger && prefixed.startsWith(prefix)) found = { server, name: prefixed.slice(prefix.length) };
  }
  return found;
}
