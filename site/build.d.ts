/** Builds the site into a folder, and resolves with the number of pages. */
export function buildSite(folder: string): Promise<number>;
