import { NOTING } from './plan.js';
import { faultOfError, type Outcome } from './rush.js';

/** What an outcome has against the rules, if anything. `ran`: how often the server itself says that it ran it. */
export function faultOf(outcome: Outcome, ran: number): string | undefined {
  const { client, server, token, answer, calledOff, end } = outcome;
  const what = `${token} (${client}, ${server}${calledOff ? ', called off' : ''})`;
  if (ran > 1) return `${what} ran ${ran} times`;
  if (end.kind === 'lost') return `${what} never ended`;
  if (end.kind === 'answer') {
    if (end.text !== answer) return `${what} was given the answer ${JSON.stringify(end.text)}`;
    return NOTING.has(server) && ran === 0 ? `${what} was answered by nobody` : undefined;
  }
  if (calledOff) return undefined;
  const fault = faultOfError(end.error);
  if (fault !== undefined) return `${what} failed: ${fault}`;
  return end.error.sent === 'no' && ran > 0 ? `${what} ran, and was said not to have been sent` : undefined;
}

/** How many ended in which way, for people. */
export function tally(outcomes: readonly Outcome[]): Record<string, number> {
  const ends = new Map<string, number>();
  for (const { client, end, calledOff } of outcomes) {
    const why =
      end.kind === 'error' ? `${end.error.code} ${end.error.reason ?? end.error.text.slice(0, 90)}` : '';
    const key = `${client}: ${end.kind}${calledOff ? ' (called off)' : ''} ${why}`.trim();
    ends.set(key, (ends.get(key) ?? 0) + 1);
  }
  return Object.fromEntries([...ends].sort());
}
