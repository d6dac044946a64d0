/** A name that a package exports, or `Name.member`. */
export interface ExportedName {
  readonly module: string;
  readonly name: string;
  readonly sentence: string;
  readonly examples: readonly string[];
  /** All that the reference shows of its comments. */
  readonly text: string;
}
export function exportedNames(): Promise<readonly ExportedName[]>;
