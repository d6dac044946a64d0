import type { AccessRule, AccessSettings } from '@isthmus/sdk/internal/config/gateway/read-access.js';
import { matches } from '@isthmus/sdk/internal/config/server-spec.js';
import { ImpliedScopes, ServerScopes } from './scope-rules.js';

/** Who makes a call. */
export interface AccessCaller {
  /** Undefined: callers are not authenticated. */
  readonly principal: string | undefined;
  /** Undefined for a key. */
  readonly scopes: readonly string[] | undefined;
}

/** What callers may do: the block `access` of the configuration. It can be replaced while calls are made. */
export class AccessPolicy {
  #settings: AccessSettings = {};
  #common = new ServerScopes({});
  #servers = new Map<string, ServerScopes>();
  #implied = new ImpliedScopes();
  /** By principal, scopes, server and subject. */
  #decisions = newPrincipals();
  #last: LastCaller | undefined;
  #remembers = 0;
  #hasRules = false;
  #hasScopes = false;
  #readsScopes = false;
  #hasImplied = false;

  constructor(settings: AccessSettings = {}) {
    this.replace(settings);
  }

  replace(settings: AccessSettings): void {
    this.#settings = settings;
    this.#common = new ServerScopes(settings.scopes ?? {});
    const servers = Object.entries(settings.servers ?? {});
    this.#servers = new Map(servers.map(([name, rules]) => [name, new ServerScopes(rules)]));
    this.#implied = new ImpliedScopes(settings.implies);
    this.#hasImplied = Object.keys(settings.implies ?? {}).length > 0;
    this.#forget();
    this.#hasRules = (settings.rules ?? []).length > 0 || settings.default === 'deny';
    this.#hasScopes = settings.scopes !== undefined || servers.length > 0;
    this.#readsScopes = (settings.rules ?? []).some(({ scopes }) => scopes !== undefined);
  }

  /** Nothing is restricted. */
  get isEmpty(): boolean {
    return !this.#hasRules && !this.#hasScopes;
  }

  get hasRules(): boolean {
    return this.#hasRules;
  }

  get hasScopes(): boolean {
    return this.#hasScopes;
  }

  /** The scopes of one server, or of what is not about one server. */
  scopesOf(server: string | undefined): ServerScopes {
    return (server === undefined ? undefined : this.#servers.get(server)) ?? this.#common;
  }

  /** Some scopes include others. */
  get hasImplied(): boolean {
    return this.#hasImplied;
  }

  /** Whether the scopes of a token are enough for these. */
  readonly coversScopes = (granted: readonly string[], needed: readonly string[]): boolean =>
    this.#implied.cover(granted, needed);

  /** Only callers that are authenticated have scopes. Others are judged by the rules alone. */
  covers({ principal, scopes = [] }: AccessCaller, needed: readonly string[]): boolean {
    return principal === undefined || needed.length === 0 || this.#implied.cover(scopes, needed);
  }

  /** Whether the rules let a caller use a tool of a server, by its name there. */
  allowsTool(caller: AccessCaller, server: string, tool: string): boolean {
    return !this.#hasRules || this.#remembered(caller, server, tool);
  }

  /** Whether the rules let a caller use a server at all, for example to list its tools. */
  allowsEntry(caller: AccessCaller, server: string): boolean {
    return !this.#hasRules || this.#remembered(caller, server, ENTRY);
  }

  /** The same for its prompts, its resources and everything else that is not a tool. */
  allowsRest(caller: AccessCaller, server: string): boolean {
    return !this.#hasRules || this.#remembered(caller, server, REST);
  }

  #remembered(caller: AccessCaller, server: string, subject: Subject): boolean {
    const known = inside(this.#decisionsOf(caller), server, newSubjects);
    const before = known.get(subject);
    if (before !== undefined) return before;
    const { rules = [], default: otherwise = 'allow' } = this.#settings;
    const first = rules.find((rule) => this.#fits(rule, caller, server, subject));
    const isAllowed = (first?.effect ?? otherwise) === 'allow';
    // Names come from clients, so what is remembered is bounded.
    if (typeof subject === 'string' && subject.length > MAX_NAME) return isAllowed;
    known.set(subject, isAllowed);
    this.#remembers += 1;
    if (this.#remembers >= MAX_DECISIONS) this.#forget();
    return isAllowed;
  }

  /** Maps inside of maps: no key has to be put together. A call is decided about several times in a row. */
  #decisionsOf({ principal = '', scopes }: AccessCaller): DecisionsOfCaller {
    const last = this.#last;
    if (last && last.principal === principal && last.scopes === scopes) return last.decisions;
    const text = this.#readsScopes ? (scopes ?? []).join(' ') : '';
    const decisions = inside(inside(this.#decisions, principal, newScopes), text, newServers);
    this.#last = { principal, scopes, decisions };
    return decisions;
  }

  #forget(): void {
    this.#decisions = new Map();
    this.#last = undefined;
    this.#remembers = 0;
  }

  #fits(rule: AccessRule, caller: AccessCaller, server: string, subject: Subject): boolean {
    const { principals, scopes, servers, tools } = rule;
    if (servers && !servers.some((pattern) => matches(pattern, server))) return false;
    const principal = caller.principal ?? 'anonymous';
    if (principals && !principals.some((pattern) => matches(pattern, principal))) return false;
    if (scopes && !this.#implied.cover(caller.scopes ?? [], scopes)) return false;
    if (!tools) return true;
    if (typeof subject === 'string') return tools.some((pattern) => matches(pattern, subject));
    // Who may use a tool may list the tools. The server as such is not denied with some of its tools.
    return subject === ENTRY && rule.effect === 'allow';
  }
}

/** The name of a tool, or one of the two symbols. */
type Subject = string | typeof ENTRY | typeof REST;
const ENTRY = Symbol('the server at all');
const REST = Symbol('all except its tools');

type DecisionsOfCaller = Map<string, Map<Subject, boolean>>;

interface LastCaller {
  readonly principal: string;
  readonly scopes: readonly string[] | undefined;
  readonly decisions: DecisionsOfCaller;
}

const newSubjects = () => new Map<Subject, boolean>();
const newServers = (): DecisionsOfCaller => new Map();
const newScopes = () => new Map<string, DecisionsOfCaller>();
const newPrincipals = () => new Map<string, Map<string, DecisionsOfCaller>>();

function inside<V>(map: Map<string, V>, key: string, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}

/** Decisions that are remembered, and the longest name of a tool among them. */
const MAX_DECISIONS = 10_000;
const MAX_NAME = 256;
