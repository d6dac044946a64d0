export interface ModeResults {
  readonly run: {
    readonly date: string;
    readonly node: string;
    readonly cores: number;
    readonly quick: boolean;
  };
  readonly figures: readonly Readonly<Record<string, string | number>>[];
  readonly goals: readonly { mode: string; what: string; where: string; value: number; bare?: number }[];
}

/** Later runs replace the modes that they have, and leave the others. */
export function mergeRuns(
  before: Readonly<Record<string, ModeResults>>,
  runs: readonly unknown[],
): Record<string, ModeResults>;
