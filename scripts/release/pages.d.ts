/** The page with the links that lead somewhere; the text of others stays. */
export function keepLinks(text: string, page: string, exists: (path: string) => boolean): string;
