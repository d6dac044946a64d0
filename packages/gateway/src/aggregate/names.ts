import { createHash } from 'node:crypto';

export interface NamedItem {
  readonly server: string;
  readonly name: string;
}

/**
 * How the tools and prompts of several servers are told apart: `weather__forecast`. Servers may be called anything,
 * tools may not: clients and models take 128 of `A-Z a-z 0-9 _ - .`, so what stands before the separator is made of
 * the name of the server, and is that name wherever it can be.
 */
export class Names {
  readonly #separator: string;
  readonly #prefixes: ReadonlyMap<string, string>;
  /** The longest first: of `a` and `a__b` the second one has `a__b__c`. */
  readonly #inTurn: readonly (readonly [server: string, start: string])[];
  readonly #isAmbiguous: boolean;

  constructor(separator: string, servers: readonly string[]) {
    this.#separator = separator;
    this.#prefixes = prefixesOf(servers);
    this.#inTurn = [...this.#prefixes]
      .map(([server, prefix]) => [server, prefix + separator] as const)
      .sort(([, a], [, b]) => b.length - a.length);
    this.#isAmbiguous = this.#inTurn.some(([, a]) =>
      this.#inTurn.some(([, b]) => a !== b && a.startsWith(b)),
    );
  }

  /** What a name of one server is among those of all. */
  to({ server, name }: NamedItem): string {
    const plain = this.plain({ server, name });
    if (plain.length <= MAX_LENGTH && this.from(plain)?.server === server) return plain;
    const mark = createHash('sha256').update(`${server}\0${name}`).digest('hex').slice(0, MARK);
    return `${plain.slice(0, MAX_LENGTH - MARK - 1)}-${mark}`;
  }

  plain({ server, name }: NamedItem): string {
    return `${this.#prefixes.get(server) ?? server}${this.#separator}${name}`;
  }

  /** The server that a name belongs to, and what it is called there; but for names that had to be shortened. */
  from(name: string): NamedItem | undefined {
    const found = this.#inTurn.find(([, start]) => name.startsWith(start));
    return found && { server: found[0], name: name.slice(found[1].length) };
  }

  /** It may have been shortened, or stand for one that is read as that of another server. */
  isDoubtful(name: string): boolean {
    return /-[0-9a-f]{8}$/.test(name) && (name.length === MAX_LENGTH || this.#isAmbiguous);
  }
}

/** Names that need no change keep their prefix, whoever else is there; the others come after them, in their order. */
function prefixesOf(servers: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(servers.filter(isLegal));
  return new Map(
    servers.map((server) => {
      if (isLegal(server)) return [server, server];
      const legal = legalise(server);
      let prefix = legal;
      for (let count = 2; taken.has(prefix); count += 1) prefix = `${legal}-${count}`;
      taken.add(prefix);
      return [server, prefix];
    }),
  );
}

function isLegal(server: string): boolean {
  return /^[A-Za-z0-9_.-]+$/.test(server) && server.length <= MAX_PREFIX;
}

/** `My Server` becomes `My_Server`, and `Zürich` becomes `Zurich`. */
function legalise(server: string): string {
  const legal = server
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .slice(0, MAX_PREFIX)
    .replace(/^_+|_+$/g, '');
  return legal || 'server';
}

const MAX_LENGTH = 128;
/** The rest is for the tools. */
const MAX_PREFIX = 64;
const MARK = 8;
