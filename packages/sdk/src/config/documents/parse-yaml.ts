import type { Node, Pair } from 'yaml';
import { createPositions, type ParsedDocument, type Path } from './document.js';

/**
 * The files of Continue and Goose. Keys are read as strings, aliases and merge keys (`<<`) are resolved, and the last of two
 * equal keys counts. A file with several documents is refused: it would be ambiguous.
 */
export async function parseYaml(text: string): Promise<ParsedDocument> {
  const { parseDocument, isAlias, isMap, isScalar, isSeq } = await import('yaml');
  // With a lower log level the parser does not report a second document.
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, logLevel: 'error' });
  const positionAt = createPositions(text);
  const [error] = document.errors;
  if (error) {
    // Only the first line: the rest may quote the file, which may contain secrets.
    const message =
      error.code === 'MULTIPLE_DOCS' ? SEVERAL : `expected YAML: ${error.message.split('\n')[0]!}`;
    return { kind: 'broken', problem: { ...positionAt(error.pos[0]), message } };
  }
  const offsets = new Map<string, number>();
  const repeated: Path[] = [];
  let nodes = 0;
  let wrongMerge: number | undefined;
  const root = toValue(document.contents, []);
  if (wrongMerge !== undefined) {
    return { kind: 'broken', problem: { ...positionAt(wrongMerge), message: WRONG_MERGE } };
  }
  return {
    kind: 'document',
    document: {
      root,
      repeated,
      placeOf(path) {
        for (let end = path.length; end > 0; end -= 1) {
          const offset = offsets.get(JSON.stringify(path.slice(0, end)));
          if (offset !== undefined) return positionAt(offset);
        }
        return { line: 1, column: 1 };
      },
    },
  };

  function toValue(node: unknown, path: Path): unknown {
    // Nested aliases can expand to more values than fit into memory.
    nodes += 1;
    if (nodes > MAX_NODES) throw new Error(`expected fewer than ${MAX_NODES} values, with aliases expanded`);
    if (isAlias(node)) return toValue(node.resolve(document), path);
    if (isSeq(node)) {
      return node.items.map((item, at) => {
        note([...path, at], item);
        return toValue(item, [...path, at]);
      });
    }
    if (isMap(node)) return toTable(node.items, path);
    return isScalar(node) ? node.value : null;
  }

  function toTable(pairs: readonly Pair[], path: Path): Map<string, unknown> {
    const table = toMerged(pairs, path);
    const own = new Set<string>();
    for (const { key, value } of pairs) {
      if (isMerge(key)) continue;
      const name = String(isScalar(key) ? key.value : key);
      const inner = [...path, name];
      if (own.has(name)) repeated.push(inner);
      own.add(name);
      note(inner, key);
      table.set(name, toValue(value, inner));
    }
    return table;
  }

  /** The keys of `<<`. The first of several tables that has a key counts, and own keys override merged ones. */
  function toMerged(pairs: readonly Pair[], path: Path): Map<string, unknown> {
    const merged = new Map<string, unknown>();
    for (const { key, value } of pairs) {
      if (!isMerge(key)) continue;
      const source = toValue(value, path);
      for (const table of Array.isArray(source) ? source : [source]) {
        if (!(table instanceof Map)) wrongMerge ??= (key as Node).range?.[0] ?? 0;
        else for (const [name, inner] of table) if (!merged.has(name)) merged.set(name, inner);
      }
    }
    return merged;
  }

  /** A quoted `<<` is an ordinary key. */
  function isMerge(key: unknown): boolean {
    return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
  }

  function note(path: Path, node: unknown): void {
    const offset = (node as Node | null)?.range?.[0];
    if (offset !== undefined) offsets.set(JSON.stringify(path), offset);
  }
}

const MAX_NODES = 100_000;
const SEVERAL = 'expected one YAML document; put the part after "---" into another file';
const WRONG_MERGE = 'expected an alias of a table, or a list of those, under the merge key "<<"';
