/** What is known of the words of a line. */
export interface WordFacts {
  /** An option of ours, or one that we understand. */
  isOurs(word: string): boolean;
  isProgram(name: string): Promise<boolean>;
}

/**
 * Whether words that lack their `--` are a command without doubt: the first is a program, and nothing behind it could
 * be meant for us.
 */
export async function classifyWords(words: readonly string[], facts: WordFacts): Promise<boolean> {
  const [first, ...rest] = words;
  if (first === undefined || rest.some((word) => facts.isOurs(word))) return false;
  return facts.isProgram(first);
}
