/** The lists that say where resources are. */
export type ResourceListKind = 'resources' | 'templates';

/** Where one principal's resources are, as far as its own lists and reads have shown. */
export class ResourceBook {
  /** By server and list: each URI, and whether the list that is being read now has shown it again. */
  readonly #lists = new Map<string, Map<string, boolean>>();
  /** By URI: the server that answered a read, where no list names one. */
  readonly #reads = new Map<string, string>();
  /** What all this takes, in bytes, about. */
  size = 0;

  /** A page of a list. The first page begins the list anew; what the last page has not shown again is gone. */
  learnPage(server: string, kind: ResourceListKind, uris: readonly string[], page: PagePosition): void {
    const key = keyOf(server, kind);
    const list = this.#lists.get(key) ?? new Map<string, boolean>();
    this.#lists.set(key, list);
    if (page.isFirst) for (const uri of list.keys()) list.set(uri, false);
    for (const uri of uris) {
      if (uri.length > MAX_URI) continue;
      if (!list.has(uri)) this.size += costOf(uri);
      list.set(uri, true);
    }
    if (!page.isLast) return;
    for (const [uri, isFresh] of list) {
      if (isFresh) continue;
      list.delete(uri);
      this.size -= costOf(uri);
    }
  }

  learnRead(uri: string, server: string): void {
    if (uri.length > MAX_URI) return;
    if (!this.#reads.has(uri)) this.size += costOf(uri);
    this.#reads.set(uri, server);
  }

  forgetRead(uri: string): void {
    if (this.#reads.delete(uri)) this.size -= costOf(uri);
  }

  isListed(uri: string, server: string): boolean {
    return KINDS.some((kind) => this.#lists.get(keyOf(server, kind))?.has(uri) === true);
  }

  readAt(uri: string): string | undefined {
    return this.#reads.get(uri);
  }

  forgetServer(server: string): void {
    for (const kind of KINDS) {
      for (const uri of this.#lists.get(keyOf(server, kind))?.keys() ?? []) this.size -= costOf(uri);
      this.#lists.delete(keyOf(server, kind));
    }
    for (const [uri, owner] of this.#reads) if (owner === server) this.forgetRead(uri);
  }

  clear(): void {
    this.#lists.clear();
    this.#reads.clear();
    this.size = 0;
  }
}

export interface PagePosition {
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

function keyOf(server: string, kind: ResourceListKind): string {
  return `${kind} ${server}`;
}

function costOf(uri: string): number {
  return 2 * uri.length + ENTRY_BYTES;
}

const KINDS: readonly ResourceListKind[] = ['resources', 'templates'];
/** Longer ones are not remembered, and looked for in the order of the servers. */
const MAX_URI = 8192;
const ENTRY_BYTES = 64;
