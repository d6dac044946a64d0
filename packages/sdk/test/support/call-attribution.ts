import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { QuestionPolicy } from '../../src/era/client-dialect-context.js';
import type {
  AttributableCall,
  Attributed,
  OpenQuestion,
  Unclear,
} from '../../src/era/legacy/attribution/attributable-call.js';
import { RunningCalls } from '../../src/era/legacy/attribution/running-calls.js';
import type { OnBehalfOf } from '../../src/exchange/call.js';

export const [A, B, C] = [{ name: 'A' }, { name: 'B' }, { name: 'C' }];
/** Waits for ever, as far as a test is concerned. */
export const LONG = { timeoutMs: 1_000_000 };

export function openAttribution(policy: QuestionPolicy = 'adaptive') {
  const clock = new FakeClock();
  return { clock, attribution: new RunningCalls(policy, clock) };
}

/** The only one who can be meant. */
export function ownerOf(it: RunningCalls): object | undefined {
  const attribution = it.attribute();
  return attribution.kind === 'one' ? attribution.call.owner : undefined;
}

/** How many can be meant, where that is not clear. */
export function unclear(it: RunningCalls): Unclear {
  const attribution = it.attribute();
  if (attribution.kind !== 'several') throw new Error(`it is ${attribution.kind} who can be meant`);
  return attribution;
}

/** A question comes, and whoever is meant is asked. */
export function ask(it: RunningCalls): OpenQuestion {
  const attribution = it.attribute();
  if (attribution.kind !== 'one') throw new Error(`it is ${attribution.kind} who can be meant`);
  return it.asking(attribution as Attributed);
}

/** The answer is there; true when the server has it at once. */
export async function answer(
  it: RunningCalls,
  question: OpenQuestion,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ readonly isGiven: boolean; readonly given: Promise<void> }> {
  const given = it.comeBack(question, { signal });
  const waits = await pending(given);
  return { isGiven: !waits, given };
}

/** It has asked so often before, one question after the other, with nobody else about. */
export function hasAsked(it: RunningCalls, key: string, times = 1): void {
  const call = it.enter({}, key)!;
  for (let each = 0; each < times; each += 1) it.over(ask(it));
  it.leave(call);
}

/** It has asked two questions at once, with nobody else about. */
export function hasAskedSeveral(it: RunningCalls, key: string): void {
  const call = it.enter({}, key)!;
  for (const question of [ask(it), ask(it)]) it.over(question);
  it.leave(call);
}

/** Has asked, and others may run: its owner thinks. */
export function goesAway(
  it: RunningCalls,
  clock: FakeClock,
  owner: object,
  key: string,
): [AttributableCall, OpenQuestion] {
  const call = it.enter(owner, key)!;
  const question = ask(it);
  clock.advance(50);
  return [call, question];
}

export function behalfOf(owner: object): OnBehalfOf {
  return { owner, info: undefined, capabilities: {}, answer: () => Promise.reject(new Error('nobody asks')) };
}

/** Whether it has not settled when everything that needs no time has happened. */
export async function pending(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  work.then(note, note);
  for (let each = 0; each < 10; each += 1) await Promise.resolve();
  return !settled;
}
