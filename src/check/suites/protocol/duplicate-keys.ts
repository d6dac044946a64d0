/** The first key that occurs twice in the object at `member`, anywhere in a JSON text; parsers keep only the last. */
export function duplicateKeyIn(text: string, member: string): string | undefined {
  const open: { readonly isWanted: boolean; readonly keys: Set<string> | undefined }[] = [];
  let lastKey: string | undefined;
  for (const { 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]]/g)) {
    const top = open.at(-1);
    if (token === '{' || token === '[') {
      open.push({ isWanted: lastKey === member, keys: token === '{' ? new Set() : undefined });
      lastKey = undefined;
    } else if (token === '}' || token === ']') {
      open.pop();
      lastKey = undefined;
    } else if (token.endsWith(':')) {
      lastKey = JSON.parse(token.slice(0, -1).trimEnd()) as string;
      if (top?.isWanted && top.keys?.has(lastKey)) return lastKey;
      top?.keys?.add(lastKey);
    } else {
      lastKey = undefined;
    }
  }
  return undefined;
}
