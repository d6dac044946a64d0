export interface Verdict {
  readonly mode: string;
  readonly what: string;
  readonly where: string;
  readonly limit: number;
  readonly unit: 'x' | 'share' | 'ms' | 'MB' | '';
  readonly required: boolean;
  readonly value?: number;
  readonly bare?: number;
  readonly state: 'met' | 'missed' | 'unmeasured';
}

export function verdict(
  goal: Omit<Verdict, 'state' | 'required' | 'value' | 'bare'> & {
    readonly value?: number | undefined;
    readonly bare?: number | undefined;
    readonly required?: boolean;
  },
): Verdict;
export function failing(verdicts: readonly Verdict[]): Verdict[];
export function exitStatus(outcome: {
  readonly check: boolean;
  readonly failed: boolean;
  readonly verdicts: readonly Verdict[];
}): 0 | 1;
export function renderVerdicts(verdicts: readonly Verdict[]): string;
export function renderCheck(verdicts: readonly Verdict[]): string;
export function renderMarkdown(verdicts: readonly Verdict[]): string;
