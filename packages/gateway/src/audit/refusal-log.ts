import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { AuditRecord } from './audit-record.js';

/**
 * Writes down refusals without letting a flood of them fill the log. The first refusal of a kind is written at once. Those of
 * the same kind within the same second are counted, and get the id of the first; the count is written when the second is over.
 */
export class RefusalLog {
  readonly #clock: Clock;
  readonly #write: (record: AuditRecord) => void;
  /** Of the current second. */
  readonly #known: Sources = new Map();
  readonly #unknown: Sources = new Map();
  #callOff: (() => void) | undefined;

  constructor(clock: Clock, write: (record: AuditRecord) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Returns the id by which the log knows the refusal. */
  add(record: AuditRecord): string {
    const { group, shown } = this.#groupOf(record);
    if (group.first) {
      group.more += 1;
      return group.first.correlationId;
    }
    group.first = shown;
    this.#write(shown);
    this.#callOff ??= this.#clock.after(WINDOW_MS, () => this.flush(), { background: true });
    return shown.correlationId;
  }

  /** Writes the counts, and begins to count again. */
  flush(): void {
    this.#callOff?.();
    this.#callOff = undefined;
    for (const sources of [this.#known, this.#unknown]) {
      for (const groups of sources.values()) for (const group of groups.values()) this.#writeCount(group);
      sources.clear();
    }
  }

  #writeCount({ first, more }: Group): void {
    if (!first || more === 0) return;
    // What may differ between the refusals is left out.
    const { uri: _uri, arguments: _arguments, ...same } = first;
    const isOfOne = first.principal !== undefined && first.outcome !== 'unauthenticated';
    const server = isOfOne ? first.server : undefined;
    this.#write({ ...same, server, uri: undefined, time: new Date().toISOString(), count: more });
  }

  /** A caller has few groups, so that the refusals of one caller leave room for those of others. */
  #groupOf(record: AuditRecord): { readonly group: Group; readonly shown: AuditRecord } {
    const isKnown = record.principal !== undefined;
    const [sources, maxSources, maxGroups] = isKnown
      ? [this.#known, MAX_PRINCIPALS, GROUPS_OF_PRINCIPAL]
      : [this.#unknown, MAX_ADDRESSES, GROUPS_OF_ADDRESS];
    const name = record.principal ?? record.remote ?? '';
    const isCrowded = !sources.has(name) && sources.size >= maxSources;
    const source = isCrowded ? OTHERS : name;
    const groups = sources.get(source) ?? new Map<string, Group>();
    sources.set(source, groups);
    const { remote, clientId, method, tool, prompt, outcome, error } = record;
    // Callers without a valid credential must not learn from equal ids which servers there are.
    const server = outcome === 'unauthenticated' || !isKnown ? undefined : record.server;
    const key = [remote, clientId, server, method, tool, prompt, outcome, error].join('\n');
    if (!isCrowded && (groups.has(key) || groups.size < maxGroups)) {
      return { group: groupAt(groups, key), shown: record };
    }
    const who = isCrowded ? {} : { principal: record.principal, remote };
    return { group: groupAt(groups, outcome), shown: { ...bare(record), ...who } };
  }
}

type Sources = Map<string, Map<string, Group>>;

interface Group {
  first: AuditRecord | undefined;
  more: number;
}

function groupAt(groups: Map<string, Group>, key: string): Group {
  const known = groups.get(key);
  if (known) return known;
  const group = { first: undefined, more: 0 };
  groups.set(key, group);
  return group;
}

/** What refusals of many kinds have in common. */
function bare({ time, correlationId, outcome }: AuditRecord): AuditRecord {
  const nothing = { principal: undefined, clientId: undefined, remote: undefined, server: undefined };
  const target = { method: undefined, tool: undefined, prompt: undefined, uri: undefined };
  const why = { error: 'VARIOUS', scopes: undefined, durationMs: undefined };
  return { time, correlationId, ...nothing, ...target, outcome, ...why };
}

const WINDOW_MS = 1000;
/** The name of no principal and of no address. */
const OTHERS = ' others';
const MAX_PRINCIPALS = 1000;
const GROUPS_OF_PRINCIPAL = 20;
const MAX_ADDRESSES = 20;
const GROUPS_OF_ADDRESS = 3;
