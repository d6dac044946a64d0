import type { Node, ParseError } from 'jsonc-parser';
import { createPlaces, type ParsedDocument, type Path } from './document.js';

/** JSON with comments and trailing commas, as editors write it. */
export async function parseJson(text: string): Promise<ParsedDocument> {
  const { parseTree, printParseErrorCode } = await import('jsonc-parser');
  if (text.trim() === '') return broken(text, 0, 'the file is empty; expected an object with mcpServers');
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) return broken(text, first.offset, EXPECTED[printParseErrorCode(first.error)] ?? 'is not JSON');
  if (!tree) return broken(text, text.length, 'expected an object with mcpServers');
  const repeated: Path[] = [];
  const placeAt = createPlaces(text);
  const offsetOf = createOffsets(tree);
  return {
    kind: 'document',
    document: {
      root: toValue(tree, [], repeated),
      repeated,
      placeOf: (path) => placeAt(offsetOf(path)),
    },
  };
}

function broken(text: string, offset: number, message: string): ParsedDocument {
  return { kind: 'broken', problem: { ...createPlaces(text)(offset), message } };
}

/** By the names that the parser gives to its complaints. */
const EXPECTED: Readonly<Record<string, string>> = {
  InvalidSymbol: 'expected a value: text needs double quotes',
  InvalidNumberFormat: 'expected a number',
  PropertyNameExpected: 'expected the name of a key in double quotes',
  ValueExpected: 'expected a value',
  ColonExpected: 'expected a colon',
  CommaExpected: 'expected a comma',
  CloseBraceExpected: 'expected a comma or a closing }',
  CloseBracketExpected: 'expected a comma or a closing ]',
  EndOfFileExpected: 'expected the end of the file',
  InvalidCommentToken: 'expected a value, not a comment',
  UnexpectedEndOfComment: 'expected the end of a comment: */',
  UnexpectedEndOfString: 'expected the closing quote of a string',
  UnexpectedEndOfNumber: 'expected the rest of a number',
  InvalidUnicode: 'expected four hexadecimal digits after \\u',
  InvalidEscapeCharacter: 'expected a valid escape: a backslash in a string is written \\\\',
  InvalidCharacter: 'expected no control characters in a string: write \\n, \\t or \\u',
};

/** The parser's own conversion assigns to plain objects, where `__proto__` would be more than a key. */
function toValue(node: Node, path: Path, repeated: Path[]): unknown {
  if (node.type === 'array') return node.children!.map((item, at) => toValue(item, [...path, at], repeated));
  if (node.type !== 'object') return node.value;
  const table = new Map<string, unknown>();
  for (const { children } of node.children!) {
    const key = children![0]!.value as string;
    const inner = [...path, key];
    if (table.has(key)) repeated.push(inner);
    table.set(key, toValue(children![1]!, inner, repeated));
  }
  return table;
}

/** A key stands where its name does, an item of a list where it begins. */
function createOffsets(tree: Node): (path: Path) => number {
  // Files of some applications have thousands of keys, and each of them may be asked for.
  const tables = new Map<Node, Map<unknown, Node>>();
  const propertyOf = (node: Node, name: string): Node | undefined => {
    const known = tables.get(node);
    // Of a key that is there twice, the last one counts.
    const table = known ?? new Map(node.children?.map((child) => [child.children?.[0]?.value, child]));
    if (!known) tables.set(node, table);
    return table.get(name);
  };
  return (path) => {
    let node = tree;
    let { offset } = tree;
    for (const step of path) {
      const child = typeof step === 'number' ? node.children?.[step] : propertyOf(node, step);
      if (!child) break;
      offset = child.offset;
      node = child.type === 'property' ? child.children![1]! : child;
    }
    return offset;
  };
}
