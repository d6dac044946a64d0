/** What is wrong with one place of a message. */
export interface Complaint {
  /** From the top of what was judged: `result.tools[3].inputSchema.type`. */
  readonly path: string;
  /** `"object"`, `a string`, `an integer of 0 or more`. */
  readonly expected: string;
  /** `"array"`, `nothing`, `a number (3.5)`. */
  readonly got: string;
}

/** `result.tools[3].inputSchema.type: expected "object", got "array"` */
export function complaintText({ path, expected, got }: Complaint): string {
  return `${path}: expected ${expected}, got ${got}`;
}
