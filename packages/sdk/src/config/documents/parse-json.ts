import type { Node, ParseError } from 'jsonc-parser';
import { createPositions, type ParsedDocument, type Path } from './document.js';

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
  const positionAt = createPositions(text);
  const offsetOf = createOffsets(tree);
  return {
    kind: 'document',
    document: {
      root: toValue(tree, [], repeated),
      repeated,
      placeOf: (path) => positionAt(offsetOf(path)),
    },
  };
}

function broken(text: string, offset: number, message: string): ParsedDocument {
  return { kind: 'broken', problem: { ...createPositions(text)(offset), message } };
}

/** Messages by the error names of the parser. */
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

/** Replaces the conversion of the parser, which assigns to plain objects: `__proto__` would change the prototype. */
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

/** The offset of a key is that of its name; the offset of a list item is its start. */
function createOffsets(tree: Node): (path: Path) => number {
  // Some files have thousands of keys, so each table is indexed once.
  const tables = new Map<Node, Map<unknown, Node>>();
  const propertyOf = (node: Node, name: string): Node | undefined => {
    const known = tables.get(node);
    // The last of two equal keys counts.
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
