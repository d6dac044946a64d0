import { runWithin, TimeIsOver } from '@isthmus/sdk/internal/schema/json-schema.js';
import { parseAst } from 'vitest/node';
import { cpuMsOf } from '../support/cpu-time.js';

/** A regular expression as it stands in a source file. */
export interface FoundPattern {
  readonly at: string;
  readonly source: string;
  readonly flags: string;
}

export function patternsIn(file: string, text: string): FoundPattern[] {
  const found: FoundPattern[] = [];
  visit(parseAst(text, { lang: 'ts' }), (node) => {
    const regex = node['regex'] as { pattern: string; flags: string } | undefined;
    if (node['type'] !== 'Literal' || !regex) return;
    const line = text.slice(0, Number(node['start'])).split('\n').length;
    found.push({ at: `${file}:${line}`, source: regex.pattern, flags: regex.flags });
  });
  return found;
}

/**
 * An input of `length` characters on which the pattern takes more than `limitMs` of processor time; undefined when
 * none of those that are tried does. Inputs repeat pieces of what the pattern matches and end with what it does not.
 */
export function slowInput(pattern: RegExp, length: number, limitMs: number): string | undefined {
  let input = '';
  try {
    return runWithin(MAX_MS, () => {
      for (const piece of piecesOf(pattern)) {
        for (const [head, tail] of FRAMES) {
          input = `${head}${piece.repeat(Math.ceil(length / piece.length))}`.slice(0, length) + tail;
          if (!isSlow(pattern, input, limitMs)) continue;
          // On a busy machine everything is slow: what takes the square takes a sixteenth for a quarter.
          const quarter =
            `${head}${piece.repeat(Math.ceil(length / piece.length))}`.slice(0, length / 4) + tail;
          if (fastest(pattern, input) > 8 * fastest(pattern, quarter)) return describe(input);
        }
      }
      return undefined;
    });
  } catch (error) {
    if (!(error instanceof TimeIsOver)) throw error;
    return `${describe(input)}, without end`;
  }
}

/** A pattern that takes exponential time would not come back. */
const MAX_MS = 20_000;

const FRAMES = [
  ['', '\u0000'],
  ['x"', '!'],
] as const;

/** The machine may do something else for a moment: what is slow is slow three times. */
function isSlow(pattern: RegExp, input: string, limitMs: number): boolean {
  return [1, 2, 3].every(() => cpuMsOf(() => matchAll(pattern, input)) > limitMs);
}

function fastest(pattern: RegExp, input: string): number {
  return Math.min(...[1, 2, 3, 4, 5].map(() => cpuMsOf(() => matchAll(pattern, input))));
}

function matchAll(pattern: RegExp, input: string): void {
  if (pattern.global) input.replace(pattern, '');
  else pattern.exec(input);
}

/** Characters of the pattern, and beginnings of what it matches. */
function piecesOf({ source }: RegExp): Set<string> {
  const pieces = new Set([' ', 'a', 'A', '0', '_', '-', '"', '\\"', '<', '\n', 'a ', '- ', '::', '${']);
  for (const [character] of source.matchAll(/[^\\()[\]{}|*+?^$]/g)) pieces.add(character);
  const skeleton = skeletonOf(source);
  for (let length = 2; length <= Math.min(skeleton.length, MAX_PIECE); length += 1) {
    const start = skeleton.slice(0, length);
    pieces.add(start).add(`${start}-`).add(`${start} `);
  }
  return pieces;
}

/** A text much like what the pattern matches: the first alternative of each group, one character for each class. */
function skeletonOf(source: string): string {
  return source
    .replaceAll(/\\([bBdDwWsS1-9])/g, (_, letter: string) => CLASSES[letter] ?? '')
    .replaceAll(/\[\^?(?:\\.|[^\]])[^\]]*\]/g, 'a')
    .replaceAll(/\(\?<?[!=][^()]*\)/g, '')
    .replaceAll(/\((?:\?:)?([^()|]*)[^()]*\)/g, '$1')
    .replaceAll(/\{\d*,?\d*\}|[*+?^$\\]/g, '')
    .split('|', 1)[0]!;
}

const CLASSES: Readonly<Record<string, string>> = { d: '0', w: 'a', s: ' ', D: 'a', W: ' ', S: 'a' };
const MAX_PIECE = 16;

function describe(input: string): string {
  return `${JSON.stringify(input.slice(0, 40))} … (${input.length} characters)`;
}

type Node = Readonly<Record<string, unknown>>;

function visit(value: unknown, see: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value) && typeof (value as Node)['type'] === 'string') see(value as Node);
  for (const child of Object.values(value)) visit(child, see);
}
