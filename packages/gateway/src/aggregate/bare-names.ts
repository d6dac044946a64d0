import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';

/** Who has seen a list. Two clients of one person may have tokens with different scopes, which open different servers. */
export interface ListViewer {
  readonly principal: string | undefined;
  /** Undefined for a caller without a token. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * The tools by the names that their servers gave them. The user interface of a tool (MCP Apps) calls the tools of its own
 * server by these names, because it does not know of the others. So a name without a prefix is understood if exactly one
 * server has such a tool.
 */
export class BareNames {
  readonly #seen = new ByPrincipal(() => new Map<string, SeenTools>());

  /** Records a page of the tools of a server. The first page replaces the list. */
  learn(viewer: ListViewer, server: string, tools: readonly string[], isFirst: boolean): void {
    const byScopes = this.#seen.of(viewer.principal);
    const key = keyOf(viewer.scopes);
    const seen: SeenTools = byScopes.get(key) ?? new Map();
    byScopes.delete(key);
    byScopes.set(key, seen);
    if (isFirst) forget(seen, server);
    for (const tool of tools) {
      const servers = seen.get(tool) ?? new Set();
      seen.delete(tool);
      seen.set(tool, servers.add(server));
      if (seen.size > MAX_KNOWN) seen.delete(seen.keys().next().value!);
    }
    // What another token has seen is read again when it is missing.
    while (byScopes.size > MAX_TOKENS || (byScopes.size > 1 && sizeOf(byScopes) > MAX_KNOWN))
      byScopes.delete(byScopes.keys().next().value!);
  }

  /** No server has listed its tools for this caller. */
  isEmpty({ principal, scopes }: ListViewer): boolean {
    return (this.#seen.get(principal)?.get(keyOf(scopes))?.size ?? 0) === 0;
  }

  /** The servers that have shown a tool of this name to this caller. */
  of({ principal, scopes }: ListViewer, tool: string): readonly string[] {
    return [...(this.#seen.get(principal)?.get(keyOf(scopes))?.get(tool) ?? [])];
  }

  /** The same for all tokens of a principal together. */
  ofAny(principal: string | undefined, tool: string): readonly string[] {
    const all = [...(this.#seen.get(principal)?.values() ?? [])];
    return [...new Set(all.flatMap((seen) => [...(seen.get(tool) ?? [])]))];
  }

  /** A removed server has no tools. */
  forget(server: string): void {
    for (const byScopes of this.#seen.values()) for (const seen of byScopes.values()) forget(seen, server);
  }
}

/** The servers of each tool. */
type SeenTools = Map<string, Set<string>>;

function keyOf(scopes: readonly string[] | undefined): string {
  return scopes ? [...scopes].sort().join(' ') : '';
}

function sizeOf(byScopes: ReadonlyMap<string, SeenTools>): number {
  let size = 0;
  for (const seen of byScopes.values()) size += seen.size;
  return size;
}

function forget(seen: SeenTools, server: string): void {
  for (const [tool, servers] of seen) if (servers.delete(server) && servers.size === 0) seen.delete(tool);
}

/** For each principal. A name beyond this needs its prefix. */
const MAX_KNOWN = 2000;
/** Tokens with different scopes of one principal. */
const MAX_TOKENS = 8;
