/** The public address of the repository; undefined while there is none. */
export const PUBLIC_ADDRESS: string | undefined;

/** The text of a manifest with `repository`, `homepage` and `bugs`. */
export function withAddress(text: string, address: string | undefined, folder: string): string;
