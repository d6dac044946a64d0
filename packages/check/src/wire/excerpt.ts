import type { WireLine } from '../model.js';

interface ExcerptLimits {
  readonly lines: number;
  readonly bytes: number;
  /** Of one line. */
  readonly chars: number;
}

/** The limits of the transcript in a finding. */
export const KEPT: ExcerptLimits = { lines: 400, bytes: 64 * 1024, chars: 8000 };

/**
 * The lines that explain a failure, within limits. Lines near the failure (`at`, by default the end) come first, then the
 * beginning, errors and everything that is not a message, and then the rest. A note replaces omitted lines.
 */
export function excerptOf(
  lines: readonly WireLine[],
  limits: ExcerptLimits,
  at = lines.length - 1,
): WireLine[] {
  const kept = new Map<number, WireLine>();
  let bytes = 0;
  for (const index of byWorth(lines, limits.lines, at)) {
    if (kept.size >= limits.lines || kept.has(index)) continue;
    const line = clipped(lines[index]!, limits.chars);
    const size = Buffer.byteLength(line.text);
    if (kept.size > 0 && bytes + size > limits.bytes) continue;
    bytes += size;
    kept.set(index, line);
  }
  return inOrder(lines, kept);
}

/** The lines that a report shows first. */
export function fewerLines(lines: readonly WireLine[], most: number): WireLine[] {
  return excerptOf(lines, { lines: most, bytes: Number.POSITIVE_INFINITY, chars: Number.POSITIVE_INFINITY });
}

function* byWorth(lines: readonly WireLine[], most: number, at: number): Generator<number> {
  const until = Math.min(lines.length - 1, at + AFTER);
  const near = Math.max(2, Math.floor((most * 3) / 4));
  for (let index = until; index >= 0 && index > until - Math.min(NEAR, near); index--) yield index;
  for (let index = 0; index < Math.min(lines.length, FIRST); index++) yield index;
  for (let index = lines.length - 1; index >= 0; index--) if (isTelling(lines[index]!)) yield index;
  for (let index = lines.length - 1; index >= 0; index--) yield index;
}

const AFTER = 2;
const NEAR = 12;
const FIRST = 6;

/** An error, a note (such as an exit or a status), or output of the peer that is not a message. */
function isTelling({ from, text }: WireLine): boolean {
  return from === 'note' || /"error"\s*:/.test(text) || (from !== 'check' && !/^\s*[[{]/.test(text));
}

function clipped(line: WireLine, chars: number): WireLine {
  if (line.text.length <= chars) return line;
  return { ...line, text: `${line.text.slice(0, chars)}… (${line.text.length} characters)` };
}

function inOrder(lines: readonly WireLine[], kept: ReadonlyMap<number, WireLine>): WireLine[] {
  const shown: WireLine[] = [];
  let left = 0;
  const gap = (atMs: number) => {
    if (left > 0)
      shown.push({ from: 'note', atMs, text: `… ${left} ${left === 1 ? 'line is' : 'lines are'} left out` });
    left = 0;
  };
  lines.forEach(({ atMs }, index) => {
    const line = kept.get(index);
    if (!line) {
      left += 1;
      return;
    }
    gap(atMs);
    shown.push(line);
  });
  gap(lines.at(-1)?.atMs ?? 0);
  return shown;
}
