import type { ModeResults } from './figures.js';

/** The pages that have tables of results, from the root of the repository. */
export const PAGES: readonly string[];

/** The page with its tables written again. */
export function fillPage(
  page: string,
  results: Readonly<Record<string, ModeResults>>,
  scoreboard: string,
): string;
