import type { Node } from 'jsonc-parser';

/** Sets a value of a JSON text. Comments, order and layout of the rest stay. `text` must be valid, or empty. */
export async function setJsonValue(text: string, path: readonly string[], value: unknown): Promise<string> {
  const { applyEdits, findNodeAtLocation, modify, parseTree } = await import('jsonc-parser');
  const start = text.trim() === '' ? '{}\n' : text;
  const indent = /^([ \t]+)\S/m.exec(start)?.[1] ?? '  ';
  const eol = start.includes('\r\n') ? '\r\n' : '\n';
  const tree = parseTree(start, [], { allowTrailingComma: true });
  const table = tree && findNodeAtLocation(tree, path.slice(0, -1));
  const last = table?.type === 'object' ? table.children?.at(-1) : undefined;
  const margin = last && marginOf(start, last);
  if (tree && last && margin !== undefined) {
    const json = JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${margin}`);
    const old = findNodeAtLocation(tree, [...path]);
    if (old) return replaceAt(start, old.offset, old.length, json);
    const member = `,${eol}${margin}${JSON.stringify(path.at(-1))}: ${json}`;
    return replaceAt(start, last.offset + last.length, 0, member);
  }
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol,
  };
  return applyEdits(start, modify(start, [...path], value, { formattingOptions }));
}

/** The blanks before a member. Undefined: something else is on its line. */
function marginOf(text: string, { offset }: Node): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return before.trim() === '' ? before : undefined;
}

function replaceAt(text: string, offset: number, length: number, by: string): string {
  return text.slice(0, offset) + by + text.slice(offset + length);
}
