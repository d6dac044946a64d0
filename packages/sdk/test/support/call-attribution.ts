import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { QuestionPolicy } from '../../src/era/client-dialect-context.js';
import type { AttributableCall } from '../../src/era/legacy/attribution/attributable-call.js';
import type { Unclear } from '../../src/era/legacy/attribution/attribution.js';
import { CallAttribution } from '../../src/era/legacy/attribution/call-attribution.js';
import { GivenUpCalls } from '../../src/era/legacy/attribution/given-up-calls.js';
import type { OpenQuestion } from '../../src/era/legacy/attribution/open-question.js';
import { AskedOwners } from '../../src/era/legacy/attribution/session-calls.js';
import type { OnBehalfOf } from '../../src/exchange/call.js';

export const [A, B, C] = [{ name: 'A' }, { name: 'B' }, { name: 'C' }];
/** Waits for ever, as far as a test is concerned. */
export const LONG = { timeoutMs: 1_000_000 };

export function openAttribution(policy: QuestionPolicy = 'adaptive') {
  const clock = new FakeClock();
  const [givenUp, asked] = [new GivenUpCalls<AttributableCall>(clock, 2000), new AskedOwners()];
  return { clock, givenUp, asked, attribution: new CallAttribution(policy, clock, givenUp, asked) };
}

/** Begins a call at once; undefined if it has to wait for another. Then it does not wait. */
export function enter(
  it: CallAttribution,
  caller: object,
  key: string,
  behalf?: OnBehalfOf,
): AttributableCall | undefined {
  const over = new AbortController();
  const begun = it.begin(caller, { ...callOf(key), behalf, signal: over.signal });
  if (!(begun instanceof Promise)) return begun;
  begun.catch(() => {});
  over.abort();
  return undefined;
}

/** A call that is known by `key`. */
function callOf(key: string) {
  return { ...LONG, method: 'tools/call', params: { name: key } };
}

/** Begins a call when it is its turn. */
export async function wait(
  it: CallAttribution,
  caller: object,
  key: string,
  patience: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  behalf?: OnBehalfOf,
): Promise<AttributableCall> {
  return it.begin(caller, { ...callOf(key), ...patience, behalf });
}

/** The only one who can be meant. */
export function ownerOf(it: CallAttribution): object | undefined {
  const attribution = it.attribute();
  return attribution.kind === 'one' ? attribution.call.owner : undefined;
}

/** How many can be meant, where that is not clear. */
export function unclear(it: CallAttribution): Unclear {
  const attribution = it.attribute();
  if (attribution.kind !== 'several') throw new Error(`it is ${attribution.kind} who can be meant`);
  return attribution;
}

/** A question comes, and whoever is meant is asked. */
export function ask(it: CallAttribution): OpenQuestion {
  const attribution = it.attribute();
  if (attribution.kind !== 'one') throw new Error(`it is ${attribution.kind} who can be meant`);
  return attribution.ask();
}

/** The answer is there; true when the server has it at once. */
export async function answer(
  question: OpenQuestion,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ readonly isGiven: boolean; readonly given: Promise<void> }> {
  const given = question.comeBack(signal);
  const waits = await pending(given);
  return { isGiven: !waits, given };
}

/** It has asked so often before, one question after the other, with nobody else about. */
export function hasAsked(it: CallAttribution, key: string, times = 1): void {
  const call = enter(it, {}, key)!;
  for (let each = 0; each < times; each += 1) ask(it).over();
  call.end();
}

/** It has asked two questions at once, with nobody else about. */
export function hasAskedSeveral(it: CallAttribution, key: string): void {
  const call = enter(it, {}, key)!;
  for (const question of [ask(it), ask(it)]) question.over();
  call.end();
}

/** Has asked, and others may run: its owner thinks. */
export function goesAway(
  it: CallAttribution,
  clock: FakeClock,
  owner: object,
  key: string,
): [AttributableCall, OpenQuestion] {
  const call = enter(it, owner, key)!;
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
