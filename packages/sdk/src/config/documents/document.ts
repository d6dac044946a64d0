/** The values of a parsed file, and their positions. */
export interface Document {
  readonly root: unknown;
  /** The position of the value at a path. If it is unknown, that of the nearest enclosing value. */
  placeOf(path: Path): DocumentPosition;
  /** Keys that occur more than once. The last one counts. */
  readonly repeated: readonly Path[];
}

/** Objects of a file are maps, so that a key can never reach a prototype. */
export type DocumentTable = ReadonlyMap<string, unknown>;
export type Path = readonly (string | number)[];

/** Both from 1. */
export interface DocumentPosition {
  readonly line: number;
  readonly column: number;
}

/** Why a text is not a document. */
export interface SyntaxProblem extends DocumentPosition {
  readonly message: string;
}

export type ParsedDocument =
  | { readonly kind: 'document'; readonly document: Document }
  | { readonly kind: 'broken'; readonly problem: SyntaxProblem };

export function isTable(value: unknown): value is DocumentTable {
  return value instanceof Map;
}

/** `mcpServers.weather.args[0]`; other names are quoted: `mcpServers["my server"]`. */
export function keyOf(path: Path): string {
  return path
    .map((step, at) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return at === 0 ? step : `.${step}`;
    })
    .join('');
}

/** Converts offsets of a text to positions. The line starts are computed once. */
export function createPositions(text: string): (offset: number) => DocumentPosition {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  };
}

/** The kind of a value, for messages that must not show the value itself. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isTable(value)) return 'an object';
  switch (typeof value) {
    case 'string':
      return value === '' ? 'an empty string' : 'a string';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'a boolean';
    default:
      return 'something else';
  }
}
