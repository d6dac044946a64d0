import { createPositions, type ParsedDocument, type Path } from './document.js';

/** The files of Codex. */
export async function parseToml(text: string): Promise<ParsedDocument> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    const root = toValue(parse(text));
    const offsets = findTomlOffsets(text);
    const positionAt = createPositions(text);
    return {
      kind: 'document',
      document: {
        root,
        // TOML does not allow a key twice.
        repeated: [],
        placeOf(path) {
          for (let end = path.length; end > 0; end -= 1) {
            const offset = offsets.get(JSON.stringify(path.slice(0, end)));
            if (offset !== undefined) return positionAt(offset);
          }
          return { line: 1, column: 1 };
        },
      },
    };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The rest of its message is an excerpt of the file, which may hold secrets.
    const message = error.message.split('\n')[0]!.replace('Invalid TOML document: ', 'expected TOML: ');
    return { kind: 'broken', problem: { line: error.line, column: error.column, message } };
  }
}

function toValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toValue);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return new Map(Object.entries(value).map(([key, inner]) => [key, toValue(inner)]));
}

/**
 * The offsets of the tables and keys of a TOML text, by the JSON of their path. The parser does not report them. The text
 * is known to be valid, so values are only skipped. Keys of inline tables are not included.
 */
export function findTomlOffsets(text: string): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  let table: Path = [];
  let at = 0;
  while (at < text.length) {
    if (/[\s\uFEFF]/.test(text[at]!)) {
      at += 1;
    } else if (text[at] === '#') {
      at = endOfLine(text, at);
    } else if (text[at] === '[') {
      const key = readKey(text, text[at + 1] === '[' ? at + 2 : at + 1);
      table = key.path;
      note(table, at);
      at = endOfLine(text, key.end);
    } else {
      const key = readKey(text, at);
      note([...table, ...key.path], at);
      at = skipValue(text, key.end);
    }
  }
  return offsets;

  /** `[a.b]` and `a.b = 1` also set the offset of `a`, unless it is known already. */
  function note(path: Path, offset: number): void {
    for (let end = 1; end <= path.length; end += 1) {
      const key = JSON.stringify(path.slice(0, end));
      if (!offsets.has(key)) offsets.set(key, offset);
    }
  }
}

/** A part of a dotted key, bare or quoted. */
const PART = /[ \t]*(?:([\w-]+)|"((?:[^"\\]|\\.)*)"|'([^']*)')[ \t]*\.?/y;

function readKey(text: string, start: number): { readonly path: string[]; readonly end: number } {
  const path: string[] = [];
  let end = start;
  for (;;) {
    PART.lastIndex = end;
    const found = PART.exec(text);
    if (!found) return { path, end: Math.max(end, start + 1) };
    path.push(found[1] ?? found[3] ?? unquote(found[2]!));
    end = PART.lastIndex;
    if (!found[0].endsWith('.')) return { path, end };
  }
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(`"${quoted}"`));
  } catch {
    // TOML has more escapes than JSON. The position of such a key is that of its table.
    return quoted;
  }
}

/** A string of any of the four kinds, a comment, a bracket, or the end of the line. */
const LANDMARK =
  /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[{]|[\]}]|\n/g;

function skipValue(text: string, start: number): number {
  let depth = 0;
  LANDMARK.lastIndex = start;
  for (let found = LANDMARK.exec(text); found; found = LANDMARK.exec(text)) {
    const [mark] = found;
    if (mark === '[' || mark === '{') depth += 1;
    else if (mark === ']' || mark === '}') depth -= 1;
    else if (mark === '\n' && depth <= 0) return LANDMARK.lastIndex;
  }
  return text.length;
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end + 1;
}
