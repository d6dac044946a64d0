/** Finds any of many words in a text. The time depends only on the length of the text (Aho and Corasick, 1975). */
export interface WordFinder {
  /** Replaces each stretch of the text that words cover. */
  replace(text: string, replacement: string): string;
}

export function createWordFinder(words: Iterable<string>): WordFinder {
  /** By node and character: the next node. Node 0 is the beginning. */
  const next = new Map<number, number>();
  /** Of each node: how long the longest word is that ends there. */
  const ends: number[] = [0];
  for (const word of words) addWord(word, next, ends);
  const fallbacks = fallbacksOf(next, ends);
  if (ends.length === 1) return { replace: (text) => text };
  return {
    replace(text, replacement) {
      let clean = '';
      let done = 0;
      let from = -1;
      let to = -1;
      let node = 0;
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        let child = next.get(node * CODES + code);
        while (child === undefined && node !== 0) {
          node = fallbacks[node]!;
          child = next.get(node * CODES + code);
        }
        node = child ?? 0;
        const length = ends[node]!;
        if (length === 0) continue;
        const start = at + 1 - length;
        if (start >= to) {
          // The stretch before this one is complete.
          if (from >= 0) {
            clean += text.slice(done, from) + replacement;
            done = to;
          }
          from = start;
        } else if (start < from) from = Math.max(start, done);
        to = at + 1;
      }
      return from < 0 ? text : clean + text.slice(done, from) + replacement + text.slice(to);
    },
  };
}

function addWord(word: string, next: Map<number, number>, ends: number[]): void {
  let node = 0;
  for (let at = 0; at < word.length; at += 1) {
    const key = node * CODES + word.charCodeAt(at);
    let child = next.get(key);
    if (child === undefined) {
      child = ends.length;
      ends.push(0);
      next.set(key, child);
    }
    node = child;
  }
  if (node !== 0) ends[node] = word.length;
}

/** For each node: the node of the longest suffix of the text read so far that is also the beginning of a word. */
function fallbacksOf(next: ReadonlyMap<number, number>, ends: number[]): number[] {
  const fallbacks: number[] = new Array(ends.length).fill(0);
  const children: [code: number, child: number][][] = Array.from(ends, () => []);
  for (const [key, child] of next) children[Math.floor(key / CODES)]!.push([key % CODES, child]);
  const queue = children[0]!.map(([, child]) => child);
  for (let turn = 0; turn < queue.length; turn += 1) {
    const node = queue[turn]!;
    for (const [code, child] of children[node]!) {
      let back = fallbacks[node]!;
      while (back !== 0 && !next.has(back * CODES + code)) back = fallbacks[back]!;
      fallbacks[child] = next.get(back * CODES + code) ?? 0;
      ends[child] ||= ends[fallbacks[child]!]!;
      queue.push(child);
    }
  }
  return fallbacks;
}

/** The number of UTF-16 code units. */
const CODES = 65_536;
