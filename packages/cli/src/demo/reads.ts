/** What most of the demo's tools say of themselves: that calling them changes nothing. */
export const READS = { readOnlyHint: true } as const;
