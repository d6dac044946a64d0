import { nearMiss } from '../../near-miss.js';
import { isTable, type Path } from '../documents/document.js';
import { NAMES, notKnown, type ValueKind } from '../options/option-kinds.js';
import { matches } from '../server-spec.js';

/** What callers may do, in the block `gateway`. It is applied again when the file has changed. */
export interface AccessSettings {
  /** The scopes that calls need, at servers that `servers` does not name. */
  readonly scopes?: ScopeRules;
  /** The scopes that calls to one server need, by its name. */
  readonly servers?: Readonly<Record<string, ScopeRules>>;
  /** A scope that includes others: `{ "mcp:admin": ["mcp:write"] }`. */
  readonly implies?: Readonly<Record<string, readonly string[]>>;
  /** The first rule that fits a call decides. */
  readonly rules?: readonly AccessRule[];
  /** What happens to a call that no rule fits. Default `allow`. */
  readonly default?: AccessEffect;
}

export type AccessEffect = 'allow' | 'deny';

/** The scopes that a call needs: all that apply, together. In names, `*` stands for any characters. */
export interface ScopeRules {
  /** For every request. */
  readonly all?: readonly string[];
  /** By method, for example `resources/*`. */
  readonly methods?: Readonly<Record<string, readonly string[]>>;
  /** By tool. For a tool that is named here, `readOnly` and `other` do not count. */
  readonly tools?: Readonly<Record<string, readonly string[]>>;
  /** For tools that say that they only read (`readOnlyHint`). */
  readonly readOnly?: readonly string[];
  /** For all other tools. */
  readonly other?: readonly string[];
}

/** Allows or denies. What is left out fits everything. */
export interface AccessRule {
  readonly effect: AccessEffect;
  /** For example `key:ci`, `jwt:https://login.example|*`. `anonymous` is a caller without a principal. */
  readonly principals?: readonly string[];
  /** The token has all of these scopes. */
  readonly scopes?: readonly string[];
  readonly servers?: readonly string[];
  /** Names of tools at their server. Left out: the whole server, with its prompts and resources. */
  readonly tools?: readonly string[];
}

/** Reads values with parts, and says which part is wrong. */
interface PartReader {
  read(value: unknown, path: Path, flaws: Flaws): unknown;
}
type Flaws = { path: Path; message: string }[];

const SCOPES: PartReader = {
  read(value, path, flaws) {
    const list = NAMES.read(value) as string[] | undefined;
    const bad = list?.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
    if (!list) flaws.push({ path, message: 'must be a list of scopes' });
    else if (bad !== undefined) flaws.push({ path, message: `${JSON.stringify(bad)} is not a scope` });
    // AUTH-S-010: a client would be sent for a refresh token, which the gateway never sees.
    else if (list.includes('offline_access')) {
      flaws.push({
        path,
        message: 'offline_access is about refresh tokens, and opens nothing here: leave it out',
      });
    }
    return list;
  },
};

const PATTERNS: PartReader = {
  read(value, path, flaws) {
    const list = NAMES.read(value);
    if (!list) flaws.push({ path, message: `must be ${NAMES.expected}` });
    return list;
  },
};

const EFFECT: PartReader = {
  read(value, path, flaws) {
    if (value !== 'allow' && value !== 'deny') flaws.push({ path, message: 'must be allow or deny' });
    return value;
  },
};

/** An object with any keys. */
function byName(inner: PartReader): PartReader {
  return {
    read(value, path, flaws) {
      if (!isTable(value)) return void flaws.push({ path, message: 'must be an object' });
      const read = Object.create(null) as Record<string, unknown>;
      for (const [name, each] of value) read[name] = inner.read(each, [...path, name], flaws);
      return read;
    },
  };
}

/** An object with only these keys. */
function parts(readers: Readonly<Record<string, PartReader>>, needed?: string): PartReader {
  return {
    read(value, path, flaws) {
      if (!isTable(value)) return void flaws.push({ path, message: 'must be an object' });
      const read: Record<string, unknown> = {};
      for (const [name, each] of value) {
        const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
        if (reader) read[name] = reader.read(each, [...path, name], flaws);
        else flaws.push({ path: [...path, name], message: notKnown(name, Object.keys(readers)) });
      }
      if (needed !== undefined && !(needed in read)) flaws.push({ path, message: `needs ${needed}` });
      return read;
    },
  };
}

function listOf(inner: PartReader): PartReader {
  return {
    read(value, path, flaws) {
      if (!Array.isArray(value)) return void flaws.push({ path, message: 'must be a list' });
      return value.map((each, at) => inner.read(each, [...path, at], flaws));
    },
  };
}

const RULES_OF_SCOPES = parts({
  all: SCOPES,
  methods: byName(SCOPES),
  tools: byName(SCOPES),
  readOnly: SCOPES,
  other: SCOPES,
} satisfies Record<keyof ScopeRules, PartReader>);

const RULE = parts(
  {
    effect: EFFECT,
    principals: PATTERNS,
    scopes: SCOPES,
    servers: PATTERNS,
    tools: PATTERNS,
  } satisfies Record<keyof AccessRule, PartReader>,
  'effect',
);

const ACCESS_BLOCK = parts({
  scopes: RULES_OF_SCOPES,
  servers: byName(RULES_OF_SCOPES),
  implies: byName(SCOPES),
  rules: listOf(RULE),
  default: EFFECT,
} satisfies Record<keyof AccessSettings, PartReader>);

/** The block `access` of the block `gateway`. */
export const ACCESS: ValueKind = {
  expected: 'an object of scopes, servers, implies, rules and default',
  read(value) {
    const flaws: Flaws = [];
    const read = ACCESS_BLOCK.read(value, [], flaws);
    return flaws.length > 0 ? undefined : read;
  },
  flaws(value) {
    const flaws: Flaws = [];
    ACCESS_BLOCK.read(value, [], flaws);
    return flaws;
  },
};

/** What is valid in the block, and probably not what its author means: a rule that fits nothing restricts nothing. */
export function accessDoubts(
  { servers = {}, rules = [] }: AccessSettings,
  names: readonly string[],
): readonly { readonly key: string; readonly message: string }[] {
  const doubts: { key: string; message: string }[] = [];
  for (const name of Object.keys(servers)) {
    if (!names.includes(name)) doubts.push({ key: `servers.${name}`, message: unknownServer(name, names) });
  }
  for (const [at, { servers: patterns = [], principals = [] }] of rules.entries()) {
    for (const pattern of patterns) {
      if (names.some((name) => matches(pattern, name))) continue;
      doubts.push({ key: `rules[${at}].servers`, message: unknownServer(pattern, names) });
    }
    for (const pattern of principals) {
      if (/^(key:|jwt:|anonymous$)|^[^:]*\*/.test(pattern)) continue;
      const message = `${JSON.stringify(pattern)} is the name of no caller; they begin with key: or jwt:`;
      doubts.push({ key: `rules[${at}].principals`, message });
    }
  }
  return doubts;
}

function unknownServer(name: string, names: readonly string[]): string {
  const near = nearMiss(name, names);
  return `there is no server ${JSON.stringify(name)}${near === undefined ? '' : `; did you mean ${near}?`}`;
}
