import { readFileSync } from 'node:fs';

const PAGE = readFileSync(new URL('../../docs/moving.md', import.meta.url), 'utf8');

/** A command line of another program, and the same in our words. */
export interface Move {
  readonly chapter: string;
  readonly before: string;
  readonly here: string;
}

/** The rows of all tables that have command lines on both sides. */
export function moves(): readonly Move[] {
  let chapter = '';
  return PAGE.split('\n').flatMap((line) => {
    chapter = /^## (.*)$/.exec(line)?.[1] ?? chapter;
    const [, before, here] = /^\| `([^`]+)` +\| `(isthmus [^`]+)` +\|$/.exec(line) ?? [];
    return before !== undefined && here !== undefined ? [{ chapter, before, here }] : [];
  });
}

/** The programs of the page by their names. */
export function programs(): ReadonlyMap<string, string> {
  const blocks = [...PAGE.matchAll(/^```ts\n\/\/ (\S+\.ts)\n(.*?)^```$/gms)];
  return new Map(blocks.map(([, name, text]) => [name!, text!]));
}
