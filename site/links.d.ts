/** A sentence for each dead link in the files of a folder. */
export function deadLinks(folder: string): string[];
