/** How one call ended, as its client saw it. */
export interface Outcome {
  readonly client: string;
  readonly tool: string;
  readonly token: string;
  /** The only right one. */
  readonly answer: string;
  /** What its client has noticed during the call, besides. */
  readonly noticed: readonly string[];
  readonly end:
    | { readonly kind: 'answer'; readonly text: unknown }
    | { readonly kind: 'error'; readonly error: Told }
    | { readonly kind: 'lost' };
}

/** What an error says. */
export interface Told {
  readonly text: string;
  readonly code: unknown;
  readonly reason: unknown;
  /** Whether the call had left, as the server says it. */
  readonly sent: unknown;
  /** The client waited for nothing until its own time was over. */
  readonly isTimeout: boolean;
  readonly isSessionGone: boolean;
}

export function tellOf(error: unknown): Told {
  const { code, status, data, sent, cause } = error as Record<string, unknown>;
  const why = (cause as { code?: unknown } | undefined)?.code;
  const { reason, sent: told } = (data ?? {}) as Record<string, unknown>;
  const text = `${String(error)}${why === undefined ? '' : ` (${String(why)})`}`;
  return {
    text,
    code: code ?? status,
    reason,
    sent: told ?? sent,
    isTimeout: /timed? ?out/i.test(text) || code === 'TIMED_OUT',
    isSessionGone:
      code === 404 || status === 404 || /Not connected|session does not exist|\b404\b/i.test(text),
  };
}

/** What is to be said against an outcome, if anything. `ran`: how often the tool was run, by the diary. */
export function faultOf(
  { client, tool, token, answer, noticed, end }: Outcome,
  ran: number,
): string | undefined {
  const what = `${token} (${client}, ${tool})`;
  if (ran > 1) return `${what} ran ${ran} times`;
  if (end.kind === 'lost') return `${what} never ended`;
  if (end.kind === 'answer') {
    if (end.text !== answer) return `${what} was given the answer ${JSON.stringify(end.text)}`;
    return ran === 1 ? undefined : `${what} was answered, and did not run`;
  }
  // Its answer to the question was refused by the balancer, and it was told so. Without an answer the tool waits.
  if (end.error.isTimeout && tool.startsWith('ask') && noticed.some((text) => text.includes('Error POSTing')))
    return undefined;
  if (end.error.isTimeout) return `${what} was lost without a word: ${end.error.text}; ${noticed.join('; ')}`;
  return end.error.sent === 'no' && ran > 0 ? `${what} ran, and was said not to have been sent` : undefined;
}

/** How many ended in which way, for people. */
export function tally(outcomes: readonly Outcome[]): Record<string, number> {
  const ends = new Map<string, number>();
  for (const { client, end } of outcomes) {
    const why =
      end.kind === 'error' ? `${end.error.code} ${end.error.reason ?? end.error.text.slice(0, 260)}` : '';
    const key = `${client}: ${end.kind} ${why}`.trim();
    ends.set(key, (ends.get(key) ?? 0) + 1);
  }
  return Object.fromEntries([...ends].sort());
}
