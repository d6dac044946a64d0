import type { Node, Pair } from 'yaml';
import { createPlaces, type ParsedDocument, type Path } from './document.js';

/**
 * The files of Continue and Goose. Keys are texts, aliases and merge keys (`<<`) are followed, and the last of two equal
 * keys counts. A file has one document: with a second one, it would not be clear which of them is meant.
 */
export async function parseYaml(text: string): Promise<ParsedDocument> {
  const { parseDocument, isAlias, isMap, isScalar, isSeq } = await import('yaml');
  // The parser tells of a second document only if it may warn.
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, logLevel: 'error' });
  const placeAt = createPlaces(text);
  const [error] = document.errors;
  if (error) {
    // The first line only: what follows may be an excerpt of the file, which may hold secrets.
    const message =
      error.code === 'MULTIPLE_DOCS' ? SEVERAL : `expected YAML: ${error.message.split('\n')[0]!}`;
    return { kind: 'broken', problem: { ...placeAt(error.pos[0]), message } };
  }
  const offsets = new Map<string, number>();
  const repeated: Path[] = [];
  let nodes = 0;
  let wrongMerge: number | undefined;
  const root = toValue(document.contents, []);
  if (wrongMerge !== undefined) {
    return { kind: 'broken', problem: { ...placeAt(wrongMerge), message: WRONG_MERGE } };
  }
  return {
    kind: 'document',
    document: {
      root,
      repeated,
      placeOf(path) {
        for (let end = path.length; end > 0; end -= 1) {
          const offset = offsets.get(JSON.stringify(path.slice(0, end)));
          if (offset !== undefined) return placeAt(offset);
        }
        return { line: 1, column: 1 };
      },
    },
  };

  function toValue(node: unknown, path: Path): unknown {
    // A few aliases of aliases can stand for more than any memory holds.
    nodes += 1;
    if (nodes > MAX_NODES) throw new Error(`expected fewer than ${MAX_NODES} values, aliases counted out`);
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

  /** What `<<` brings in. Of several tables the first that has a key counts, and the table's own keys win. */
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

  /** In quotes it is a name like any other. */
  function isMerge(key: unknown): boolean {
    return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
  }

  function note(path: Path, node: unknown): void {
    const offset = (node as Node | null)?.range?.[0];
    if (offset !== undefined) offsets.set(JSON.stringify(path), offset);
  }
}

const MAX_NODES = 100_000;
const SEVERAL = 'expected one YAML document; put what follows "---" into a file of its own';
const WRONG_MERGE = 'expected an alias of a table, or a list of those, under the merge key "<<"';
