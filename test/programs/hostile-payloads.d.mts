/** Sixty texts that try to run something, to fetch something of the address, or to break the page. */
export function hostilePayloads(address: string): readonly string[];
