import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';

/**
 * The tools by the names that their servers gave them. The user interface of a tool (MCP Apps) calls the tools of its own
 * server by these names, because it does not know of the others. So a name without a prefix is understood if exactly one
 * server has such a tool.
 */
export class BareNames {
  readonly #servers = new ByPrincipal(() => new Map<string, Set<string>>());

  /** Records a page of the tools of a server. The first page replaces the list. */
  learn(principal: string | undefined, server: string, tools: readonly string[], isFirst: boolean): void {
    const known = this.#servers.of(principal);
    if (isFirst) forget(known, server);
    for (const tool of tools) {
      const servers = known.get(tool) ?? new Set();
      known.delete(tool);
      known.set(tool, servers.add(server));
      if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
    }
  }

  /** No server has listed its tools for this principal. */
  isEmpty(principal: string | undefined): boolean {
    return (this.#servers.get(principal)?.size ?? 0) === 0;
  }

  /** The servers that have shown a tool of this name to this principal. */
  of(principal: string | undefined, tool: string): readonly string[] {
    return [...(this.#servers.get(principal)?.get(tool) ?? [])];
  }

  /** A removed server has no tools. */
  forget(server: string): void {
    for (const known of this.#servers.values()) forget(known, server);
  }
}

function forget(known: Map<string, Set<string>>, server: string): void {
  for (const [tool, servers] of known) if (servers.delete(server) && servers.size === 0) known.delete(tool);
}

/** For each principal. A name beyond this needs its prefix. */
const MAX_KNOWN = 2000;
