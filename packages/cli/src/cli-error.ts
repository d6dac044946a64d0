/** A failure in the words that a person at a terminal gets: one line, perhaps evidence, and what to do next. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;
  readonly hint: string | undefined;
  /** Lines to show below the message, as they are. */
  readonly evidence: readonly string[];

  constructor(exitCode: number, message: string, more: { hint?: string; evidence?: readonly string[] } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.hint = more.hint;
    this.evidence = more.evidence ?? [];
  }
}

export function usageError(message: string, hint?: string, evidence?: readonly string[]): CliError {
  return new CliError(2, message, { ...(hint !== undefined && { hint }), ...(evidence && { evidence }) });
}
