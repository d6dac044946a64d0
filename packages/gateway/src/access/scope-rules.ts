import type { ScopeRules } from '@isthmus/sdk/internal/config/gateway/read-access.js';
import { matches } from '@isthmus/sdk/internal/config/server-spec.js';

/** The scopes of one server, with what was found out for each method and tool. */
export class ServerScopes {
  readonly #rules: ScopeRules;
  /** Bounded, because names come from clients. */
  readonly #byMethod = new Map<string, Needed>();
  readonly #byTool = new Map<string, Needed>();

  constructor(rules: ScopeRules) {
    this.#rules = rules;
  }

  /** The scopes that every request needs. */
  get all(): readonly string[] {
    return this.#rules.all ?? [];
  }

  /** `isReadOnly` is asked only where it counts. Undefined: it is not known yet. */
  neededFor(
    method: string,
    tool: string | undefined,
    isReadOnly: () => boolean | undefined,
  ): readonly string[] | undefined {
    const needed = this.#find(method, tool);
    if (!needed.byHint) return needed.scopes;
    const hint = isReadOnly();
    if (hint === undefined) return undefined;
    return hint ? needed.byHint.readOnly : needed.byHint.other;
  }

  #find(method: string, tool: string | undefined): Needed {
    const known = tool === undefined ? this.#byMethod : this.#byTool;
    const key = tool ?? method;
    const before = known.get(key);
    if (before) return before;
    const found = this.#compute(method, tool);
    if (key.length > MAX_KEY) return found;
    if (known.size >= MAX_NEEDED) known.clear();
    known.set(key, found);
    return found;
  }

  #compute(method: string, tool: string | undefined): Needed {
    const { all = [], methods = {}, tools = {}, readOnly, other } = this.#rules;
    const base = [...all, ...fitting(methods, method).flat()];
    if (tool === undefined) return { scopes: unique(base) };
    const named = fitting(tools, tool);
    if (named.length > 0) return { scopes: unique([...base, ...named.flat()]) };
    if (!readOnly && !other) return { scopes: unique(base) };
    return {
      scopes: [],
      byHint: {
        readOnly: unique([...base, ...(readOnly ?? [])]),
        other: unique([...base, ...(other ?? [])]),
      },
    };
  }
}

interface Needed {
  readonly scopes: readonly string[];
  /** Set where it depends on whether the tool only reads. */
  readonly byHint?: { readonly readOnly: readonly string[]; readonly other: readonly string[] };
}

function fitting<T>(byPattern: Readonly<Record<string, T>>, name: string): T[] {
  return Object.entries(byPattern).flatMap(([pattern, value]) => (matches(pattern, name) ? [value] : []));
}

function unique(scopes: readonly string[]): readonly string[] {
  return [...new Set(scopes)];
}

const MAX_NEEDED = 2000;
const MAX_KEY = 256;

/** Which scopes include which (AUTH-S-009), also over several steps. */
export class ImpliedScopes {
  /** The scopes that include a scope. */
  readonly #above = new Map<string, readonly string[]>();

  constructor(implies: Readonly<Record<string, readonly string[]>> = {}) {
    const targets = new Set(Object.values(implies).flat());
    for (const target of targets) {
      const above = new Set<string>();
      const visit = (scope: string) => {
        for (const [broad, narrow] of Object.entries(implies)) {
          if (!narrow.includes(scope) || above.has(broad)) continue;
          above.add(broad);
          visit(broad);
        }
      };
      visit(target);
      this.#above.set(target, [...above]);
    }
  }

  /** Whether the scopes of a token are enough for these. */
  cover(granted: readonly string[], needed: readonly string[]): boolean {
    for (const scope of needed) {
      if (granted.includes(scope)) continue;
      const above = this.#above.get(scope);
      if (!above?.some((each) => granted.includes(each))) return false;
    }
    return true;
  }
}
