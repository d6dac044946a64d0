import type { AttributableCall } from './attributable-call.js';
import type { QuestionHistory } from './question-history.js';
import type { SessionCalls } from './session-calls.js';

/** Decides which calls a question may belong to. Nothing here changes a call. */

/**
 * The calls that a new question may belong to. Calls that wait for an answer count only if there is no other call, or
 * if they are known to ask again while they wait.
 */
export function suspects({ running, givenUp, history }: SessionCalls): AttributableCall[] {
  const all = running.values().sort((a, b) => a.at - b.at);
  const present = all.filter(({ away, key }) => !away || history.asksLate(key));
  return [...(present.length > 0 ? present : all), ...givenUp.all()];
}

/**
 * Whether a call may have asked a question that came when so many calls had been given up. A call that was given up after
 * the question came may be the one that waits for the answer.
 */
export function mayHaveAsked(
  call: AttributableCall,
  { running, givenUp }: SessionCalls,
  givenUpBefore: number,
): boolean {
  if (call.givenUp !== undefined && call.givenUp > givenUpBefore) return true;
  return running.has(call) || givenUp.msLeft(call) > 0;
}

/** The most likely of several calls of one owner: the latest of those that have asked least. */
export function likeliest(calls: readonly AttributableCall[]): AttributableCall {
  const fewest = Math.min(...calls.map(({ asked }) => asked));
  return calls.findLast(({ asked, open }) => asked === fewest && open === 0) ?? calls.at(-1)!;
}

/** Whether all these calls are made for one client. */
export function areOfOneClient(calls: readonly AttributableCall[]): boolean {
  const client = calls[0]?.behalf?.client;
  return client !== undefined && calls.every(({ behalf }) => behalf?.client === client);
}

/**
 * No more calls of an owner may be away than certainly wait for an answer. If its calls could have been confused, only
 * one of them certainly waits; if the question may belong to a given-up call, none does.
 */
export function mayGoAway(call: AttributableCall, calls: SessionCalls): boolean {
  if (call.open === 0 || call.partly || call.stays) return false;
  for (const { owner, away, sure } of calls.running.values())
    if (owner === call.owner && away && !sure) return false;
  return call.sure || !hasGivenUp(call.owner, calls);
}

/** Whether the owner has given up a call that may still ask. */
export function hasGivenUp(owner: object, { givenUp }: SessionCalls): boolean {
  return givenUp.some((call) => call.owner === owner);
}

/**
 * How long a given-up call may still ask. For calls on behalf of clients the time is short: cancelling is common, and one
 * client must not hold up the others.
 */
export function lingerMs({ behalf, key, asked }: AttributableCall, history: QuestionHistory): number {
  if (!behalf) return LINGER_MS;
  if (!history.surelyAsks(key)) return 0;
  // A call that was given up before it asked may have been about to; a question that crosses the cancellation is refused.
  return asked === 0 ? CROSSING_LINGER_MS : BEHALF_LINGER_MS;
}

const LINGER_MS = 60_000;
/** For calls on behalf of a client. Shorter than `CLARITY_MS`, so that no question is refused because of it. */
const BEHALF_LINGER_MS = 1000;
/** The same if it had not asked yet. Longer than `CLARITY_MS`. */
const CROSSING_LINGER_MS = 3000;

/** How long a question is held until it can be attributed. */
export const CLARITY_MS = 2000;
