import type { Node, Pair } from 'yaml';
import { createPlaces, type Parsed, type Path } from './document.js';

/** The files of Continue and Goose. Keys are texts, aliases are followed, and the last of two equal keys counts. */
export async function parseYaml(text: string): Promise<Parsed> {
  const { parseDocument, isAlias, isMap, isScalar, isSeq } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, logLevel: 'silent' });
  const placeAt = createPlaces(text);
  const [error] = document.errors;
  if (error) {
    // The first line only: what follows may be an excerpt of the file, which may hold secrets.
    const message = `expected YAML: ${error.message.split('\n')[0]!}`;
    return { kind: 'broken', problem: { ...placeAt(error.pos[0]), message } };
  }
  const offsets = new Map<string, number>();
  const repeated: Path[] = [];
  let nodes = 0;
  const root = toValue(document.contents, []);
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
    const table = new Map<string, unknown>();
    for (const { key, value } of pairs) {
      const name = String(isScalar(key) ? key.value : key);
      const inner = [...path, name];
      if (table.has(name)) repeated.push(inner);
      note(inner, key);
      table.set(name, toValue(value, inner));
    }
    return table;
  }

  function note(path: Path, node: unknown): void {
    const offset = (node as Node | null)?.range?.[0];
    if (offset !== undefined) offsets.set(JSON.stringify(path), offset);
  }
}

const MAX_NODES = 100_000;
