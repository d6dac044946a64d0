import { createPlaces, type Parsed } from './document.js';
import { findTomlOffsets } from './toml-offsets.js';

export async function parseToml(text: string): Promise<Parsed> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    const root = toValue(parse(text));
    const offsets = findTomlOffsets(text);
    const placeAt = createPlaces(text);
    return {
      kind: 'document',
      document: {
        root,
        // TOML itself forbids to define a key twice.
        repeated: [],
        placeOf(path) {
          for (let end = path.length; end > 0; end -= 1) {
            const offset = offsets.get(JSON.stringify(path.slice(0, end)));
            if (offset !== undefined) return placeAt(offset);
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
